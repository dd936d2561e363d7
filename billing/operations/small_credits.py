"""Limits the credits of operators who may grant only small ones."""

from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.admin.models import ADDITION, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import Sum

from accounts.models import Account
from billing.models import CreditLot

PERIOD = timedelta(days=1)
UNLIMITED, LIMITED = "billing.add_creditlot", "billing.grant_small_creditlot"


def may_grant(operator: Account) -> bool:
    """Return whether an operator may grant credits, of any amount or small ones."""
    return operator.has_perm(UNLIMITED) or operator.has_perm(LIMITED)


def left_microusd(operator: Account, *, now: datetime) -> int | None:
    """Return how much an operator may still grant today in micro-USD, None without a limit. Locks the operator's account until the
    transaction ends, so that two grants at once do not both count as the first.

    What counts is what the log says of the operator in the last 24 hours, so a grant and its entry belong into one transaction.
    """
    if operator.has_perm(UNLIMITED):
        return None
    Account.objects.select_for_update(no_key=True).get(pk=operator.pk)
    entries = LogEntry.objects.filter(
        user=operator,
        content_type=ContentType.objects.get_for_model(CreditLot),
        action_flag=ADDITION,
        action_time__gt=now - PERIOD,
    )
    lots = CreditLot.objects.filter(pk__in=list(entries.values_list("object_id", flat=True)))
    granted = lots.aggregate(sum=Sum("granted_microusd"))["sum"] or 0
    return max(0, settings.SUPPORT_CREDIT_DAY_MICROUSD - granted)
