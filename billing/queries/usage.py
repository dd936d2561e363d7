"""Usage records, always scoped to an owner."""

from typing import NamedTuple

from django.db.models import Count, QuerySet, Subquery, Sum

from billing.models import Call, Wallet
from billing.models.call import BEGINNING, IN_REVIEW
from billing.rules.owners import Owner


def of_owner(owner: Owner) -> QuerySet[Call]:
    """Return an owner's calls."""
    kind, key = owner
    wallet = Wallet.objects.filter(owner_kind=kind, owner_key=key).values("id")[:1]
    # By a subquery, not a join: then the newest calls are read from the index, however many calls the wallet has.
    return Call.objects.filter(wallet_id=Subquery(wallet), created_at__gt=BEGINNING)


def one(usage_id: str) -> Call:
    """Return the call of an event, which names its owner."""
    return Call.objects.select_related("usage_record").get(pk=usage_id)


def newest(owner: Owner, limit: int, *, member: str | None = None) -> QuerySet[Call]:
    """Return an owner's newest calls with their usage, newest first; with `member`, only that membership's calls."""
    return visible(owner, member).select_related("usage_record").order_by("-created_at", "-id")[:limit]


def visible(owner: Owner, member: str | None) -> QuerySet[Call]:
    """Return an owner's calls; with `member`, only that membership's calls."""
    return of_owner(owner) if member is None else _of_member(owner, member)


def _of_member(owner: Owner, member: str) -> QuerySet[Call]:
    # By the organization that the call names, not by its wallet: the planner then knows how many of its calls are the
    # member's, and reads the newest from their own index. The audit checks that the wallet is the organization's.
    return Call.objects.filter(org_id=owner[1], membership_id=member)


class Undecided(NamedTuple):
    """An owner's calls whose outcome is not known yet: how many, and what they hold in micro-USD."""

    calls: int
    held_microusd: int


def open_calls(owner: Owner) -> QuerySet[Call]:
    """Return an owner's calls that have not ended, those in review included."""
    kind, key = owner
    wallet = Wallet.objects.filter(owner_kind=kind, owner_key=key).values("id")[:1]
    return Call.objects.filter(closed_at__isnull=True, wallet_id=Subquery(wallet))


def undecided(owner: Owner) -> Undecided:
    """Count an owner's calls in review."""
    found = open_calls(owner).filter(IN_REVIEW).aggregate(Count("id"), Sum("hold_microusd"))
    return Undecided(found["id__count"], found["hold_microusd__sum"] or 0)
