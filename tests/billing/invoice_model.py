"""The life of invoices once more, as plainly as Python can say it: the oracle of their model test.

It shares no code with the gateway. An organization's wallet is a `LedgerModel`, in which credit notes become credits.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

from tests.billing.ledger_model import LedgerModel, Lot

CENT, LEAST = 10_000, 500_000
GRACE = timedelta(days=7)
RETRIES_DAYS = (1, 3, 5, 7)
Span = tuple[datetime, datetime]


def month_of(year: int, month: int) -> Span:
    """Return a month's first instant and the next one's."""
    return datetime(year, month, 1, tzinfo=UTC), datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)


def cost(price: int, seat_days: int, month: Span) -> int:
    """Price seat-days: exactly, and rounded half up once."""
    exact = Fraction(price * seat_days, (month[1] - month[0]).days)
    return int((Decimal(exact.numerator) / Decimal(exact.denominator)).quantize(Decimal(1), ROUND_HALF_UP))


@dataclass
class InvoiceModel:
    """One month of one organization. `attempts` are how its charges ended, or stand."""

    id: str
    org_id: str
    month: Span
    total: int
    status: str = "draft"
    serial: int | None = None
    issued_at: datetime | None = None
    next_attempt_at: datetime | None = None
    attempts: dict[str, str] = field(default_factory=dict)
    credited: int = 0

    @property
    def due(self) -> int:
        """Return its whole cents, nothing where that is too little to be charged."""
        cents = self.total // CENT * CENT
        return cents if cents >= LEAST else 0

    @property
    def is_owed(self) -> bool:
        """Return whether somebody has to pay it."""
        return self.status in ("open", "past_due")

    @property
    def pending(self) -> list[str]:
        """List the attempts whose outcome is not known."""
        return [name for name, status in self.attempts.items() if status not in ("failed", "succeeded")]

    def end_attempt(self, name: str, outcome: str, now: datetime) -> None:
        """Apply the provider's record of an attempt; of one that is over nothing is heard any more."""
        if name not in self.pending or not self.is_owed:
            return
        self.attempts[name] = outcome
        if outcome == "succeeded":
            self.status, self.next_attempt_at = "paid", None
        elif outcome == "failed":
            failures = list(self.attempts.values()).count("failed")
            again = timedelta(days=RETRIES_DAYS[failures - 1]) if failures <= len(RETRIES_DAYS) else None
            self.status, self.next_attempt_at = "past_due", now + again if again else None

    def void(self) -> bool:
        """End what nobody paid; False where it is over, or a charge is under way that nobody has to decide about."""
        if self.status in ("paid", "void") or any(self.attempts[name] != "review" for name in self.pending):
            return False
        self.status, self.next_attempt_at = "void", None
        return True


@dataclass
class InvoicesModel:
    """Every organization's invoices, its wallet, and the numbers that were given."""

    wallets: dict[str, LedgerModel]
    invoices: list[InvoiceModel] = field(default_factory=list)
    notes: list[int] = field(default_factory=list)

    def issue(self, invoice: InvoiceModel, now: datetime) -> bool:
        """Number a draft; False where it is none any more."""
        if invoice.status != "draft":
            return False
        invoice.serial = 1 + sum(one.serial is not None for one in self.invoices)
        invoice.issued_at = now
        invoice.status, invoice.next_attempt_at = ("open", now) if invoice.due else ("paid", None)
        return True

    def mark_past_due(self, now: datetime) -> int:
        """Mark what nobody paid in time, nor is paying."""
        late = [
            one
            for one in self.invoices
            if one.status == "open" and not one.pending and one.issued_at and one.issued_at + GRACE <= now
        ]
        for invoice in late:
            invoice.status = "past_due"
        return len(late)

    def credit(self, invoice: InvoiceModel, amount: int, lot_id: str) -> int:
        """Credit part of what was paid; return the note's number."""
        invoice.credited += amount
        self.notes.append(len(self.notes) + 1)
        self.wallets[invoice.org_id].lots.append(Lot(lot_id, None, amount, None))
        return self.notes[-1]

    def creditable(self, invoice: InvoiceModel) -> int:
        """Return how much can still be given back."""
        return invoice.due - invoice.credited if invoice.status == "paid" else 0
