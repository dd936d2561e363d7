"""Records differences between the provider's balance and our payments: each is opened once and closed once."""

import logging
from collections.abc import Collection
from dataclasses import asdict, dataclass
from datetime import datetime

from django.db import transaction

from billing.models import DifferenceClosing, PaymentDifference
from billing.queries import payment_matching as queries
from billing.queries.payment_matching import Books
from billing.rules.payment_matching import difference_of
from gateway.core.contract.amounts import usd
from gateway.core.database.turns import take_turn

log = logging.getLogger("billing.payment_matching")

AGREED = "Both sides agree."
CHANGED = "The amounts have changed."


@dataclass(frozen=True, slots=True)
class Difference:
    """A payment that differs; members are named like the columns."""

    transaction_id: str
    payment_ref: str | None
    kind: str
    their_paid_microusd: int
    their_kept_microusd: int
    our_paid_microusd: int
    our_kept_microusd: int


def compare(books: Books, ids: Collection[str]) -> list[Difference]:
    """Compare the stored records of both sides for these payments; return those that differ, ordered by id."""
    theirs, ours = queries.provider_records(books, ids), queries.local_records(books, ids)
    kinds = {one: difference_of(theirs[one], ours[one]) for one in sorted(ids)}
    return [
        Difference(
            transaction_id=one,
            payment_ref=theirs[one].payment_ref,
            kind=kind,
            their_paid_microusd=theirs[one].paid_microusd,
            their_kept_microusd=theirs[one].kept_microusd,
            our_paid_microusd=ours[one].paid_microusd,
            our_kept_microusd=ours[one].kept_microusd,
        )
        for one, kind in kinds.items()
        if kind is not None
    ]


@transaction.atomic
def record(books: Books, found: Difference, *, now: datetime) -> bool:
    """Record a difference and raise the alarm; False if the same one is open, or an operator has closed it."""
    _lock(found.transaction_id)
    mine = PaymentDifference.objects.filter(**books._asdict(), transaction_id=found.transaction_id)
    before = mine.select_related("closing").order_by("-pk").first()
    if before is not None and all(getattr(before, name) == value for name, value in asdict(found).items()):
        closing = getattr(before, "closing", None)
        if closing is None or closing.closed_by is not None:
            return False
    _close_open(books, found.transaction_id, CHANGED, now)
    made = PaymentDifference.objects.create(**books._asdict(), **asdict(found), found_at=now)
    log.error(
        "payment %s (%s) differs: %s. The provider has %s paid and %s kept, here are %s and %s.",
        made.transaction_id,
        made.payment_ref or "no payment at the provider",
        made.get_kind_display(),
        *(usd(amount) for amount in (made.their_paid_microusd, made.their_kept_microusd)),
        *(usd(amount) for amount in (made.our_paid_microusd, made.our_kept_microusd)),
    )
    return True


@transaction.atomic
def close(books: Books, transaction_id: str, *, now: datetime) -> int:
    """Close the open differences of a payment on which both sides agree; return how many there were."""
    _lock(transaction_id)
    return _close_open(books, transaction_id, AGREED, now)


@transaction.atomic
def resolve(difference_id: int, *, reason: str, actor: str, now: datetime) -> bool:
    """Close a difference on an operator's decision; return False if it is already closed. No money is posted."""
    difference = PaymentDifference.objects.get(pk=difference_id)
    _lock(difference.transaction_id)
    closing = {"reason": reason, "closed_by": actor, "closed_at": now}
    return DifferenceClosing.objects.get_or_create(difference=difference, defaults=closing)[1]


def _close_open(books: Books, transaction_id: str, reason: str, now: datetime) -> int:
    found = queries.open_differences(books).filter(transaction_id=transaction_id)
    rows = [DifferenceClosing(difference=one, reason=reason, closed_at=now) for one in found]
    return len(DifferenceClosing.objects.bulk_create(rows))


def _lock(transaction_id: str) -> None:
    """Serialize comparisons of a payment until the transaction ends."""
    take_turn("difference of " + transaction_id)
