"""Days of a provider's balance that were matched, and differences: one open, one resolved, one closed by the match."""

from datetime import date

from django.utils import timezone

from billing.models import MatchedDay, ProviderMovement
from billing.operations import payment_differences
from billing.queries.payment_matching import Books

BOOKS = Books("elsewhere", is_live=False)
OPEN, RESOLVED, AGREED = ("txn_" + 26 * digit for digit in "012")


def furnish() -> None:
    """Make them."""
    now = timezone.now()
    for day in (1, 2):
        MatchedDay.objects.create(**BOOKS._asdict(), day=date(2026, 1, day), reading=1, movements=3)
    MatchedDay.objects.filter(day=date(2026, 1, 1)).update(matched_at=now)
    for transaction_id in (OPEN, RESOLVED, AGREED):
        moved(transaction_id)
        assert payment_differences.record(BOOKS, unknown(transaction_id), now=now)
    [resolved] = payment_differences.queries.open_differences().filter(transaction_id=RESOLVED)
    assert payment_differences.resolve(resolved.pk, reason="Another environment's", actor="did:op", now=now)
    assert payment_differences.close(BOOKS, AGREED, now=now) == 1


def moved(transaction_id: str) -> ProviderMovement:
    """Have 7 USD come in for a payment."""
    made = {"payment_ref": f"pi_{transaction_id}", "is_payment": True, "amount_microusd": 7_000_000, "currency": "usd"}
    return ProviderMovement.objects.create(
        **BOOKS._asdict(), ref=f"in_{transaction_id}", transaction_id=transaction_id, moved_at=timezone.now(), **made
    )


def unknown(transaction_id: str) -> payment_differences.Difference:
    """Return the difference of a payment that is not known here."""
    return payment_differences.Difference(transaction_id, f"pi_{transaction_id}", "unknown", 7_000_000, 7_000_000, 0, 0)
