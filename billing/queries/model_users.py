"""Finds who used a model."""

from collections.abc import Collection
from datetime import date

from django.db.models import Exists, OuterRef

from billing.models import Wallet
from billing.models.usage_day import UsageDay, UsageSubject
from billing.rules.owners import Owner


def owners(models: Collection[str], *, since: date) -> list[tuple[Owner, str]]:
    """Return who paid for calls of the models that closed on that day or later, with the model, in the order of the owners."""
    days = UsageDay.objects.filter(subject=OuterRef("pk"), closed_on__gte=since)
    subjects = UsageSubject.objects.filter(Exists(days), model__in=models)
    used = set(subjects.values_list("wallet_id", "model"))
    found = Wallet.objects.filter(pk__in={wallet_id for wallet_id, _ in used})
    by_id = {pk: (kind, key) for pk, kind, key in found.values_list("pk", "owner_kind", "owner_key")}
    return sorted((by_id[wallet_id], model) for wallet_id, model in used)
