"""Set and disable an organization's budgets. SPEC: Organization-related resources, Budget."""

from datetime import UTC, date, datetime

from django.db import transaction
from django.db.models import Q, QuerySet, Sum

from billing.models import Budget, Reservation, Transfer, Wallet
from billing.queries import locked
from billing.rules.budgets import month_of, scope_of
from gateway.contract.ids import new_id

LIMIT_MAX_MICROUSD = 10**15


@transaction.atomic
def put(
    org_id: str, *, limit_microusd: int, product: str | None = None, membership_id: str | None = None, now: datetime
) -> Budget:
    """Set the limit of the subject's budget, enabling it where it was disabled.

    A subject's first budget begins with what the month has already spent and what open calls hold, so that the same
    limit refuses the same calls however late in the month it is set.
    """
    wallet = locked.wallet(("organization", org_id))
    budget = Budget.objects.filter(wallet=wallet, product=product, membership_id=membership_id).first()
    if budget is None:
        budget = _open(wallet, product, membership_id, now)
    budget.limit_microusd = limit_microusd
    budget.disabled_at = None
    budget.save()
    return budget


@transaction.atomic
def disable(org_id: str, budget_id: str, *, now: datetime) -> Budget | None:
    """Stop a budget from refusing calls; it goes on counting. None where the organization has no such budget."""
    wallet = locked.wallet(("organization", org_id))
    budget = Budget.objects.filter(wallet=wallet, id=budget_id).first()
    if budget is not None and budget.disabled_at is None:
        budget.disabled_at = now
        budget.save(update_fields=["disabled_at"])
    return budget


def _open(wallet: Wallet, product: str | None, membership_id: str | None, now: datetime) -> Budget:
    month = month_of(now)
    subject = _subject(product, membership_id)
    return Budget(
        id=new_id("bud"),
        wallet=wallet,
        scope=scope_of(product, membership_id),
        product=product,
        membership_id=membership_id,
        period_start=month,
        held_microusd=_sum(Reservation.objects.filter(subject, wallet=wallet, closed_at=None), "hold_microusd"),
        spent_microusd=_sum(_charged(wallet, month, subject), "charge_microusd"),
    )


def _subject(product: str | None, membership_id: str | None) -> Q:
    given = {"product": product, "membership_id": membership_id}
    return Q(**{name: value for name, value in given.items() if value is not None})


def _charged(wallet: Wallet, month: date, subject: Q) -> QuerySet[Reservation]:
    """Find the subject's calls that were settled since the month began, by the ledger's dates."""
    begin = datetime(month.year, month.month, month.day, tzinfo=UTC)
    charges = Transfer.objects.filter(wallet=wallet, kind="charge", created_at__gte=begin)
    return Reservation.objects.filter(subject, id__in=charges.values("source"))


def _sum(calls: QuerySet[Reservation], column: str) -> int:
    return calls.aggregate(total=Sum(column))["total"] or 0
