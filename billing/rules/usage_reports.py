"""What the reports about an owner's month of use say.

Every report counts alike. Calls and tokens belong to the UTC day on which a call was begun, charges to the day on which
the ledger posted them, so a call that is settled after midnight has its charge in the next day, and perhaps in the next
month. Calls that were released are not counted.
"""

from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Generic, TypeVar


@dataclass(frozen=True, slots=True)
class Use:
    """Calls and tokens of the calls begun, and micro-USD of the charges posted."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    charged_microusd: int = 0

    def __add__(self, other: "Use") -> "Use":
        """Add two disjoint uses up."""
        return Use(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.charged_microusd + other.charged_microusd,
        )

    def __sub__(self, other: "Use") -> "Use":
        """Leave out a part of a use."""
        return self + replace(
            other,
            calls=-other.calls,
            input_tokens=-other.input_tokens,
            output_tokens=-other.output_tokens,
            charged_microusd=-other.charged_microusd,
        )


@dataclass(frozen=True, slots=True)
class MemberUse:
    """What one person used of one product: `product` is a slug, None for calls for no product; `membership_id` is None
    for an account's own calls; `did` is who called."""

    product: str | None
    membership_id: str | None
    did: str
    use: Use


@dataclass(frozen=True, slots=True)
class DayUse:
    """What was used on a UTC day."""

    day: date
    use: Use


@dataclass(frozen=True, slots=True)
class ModelUse:
    """What was used of a model, by the name under which it was called: an alias or a raw model."""

    model: str
    use: Use


Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class UsageReport(Generic[Row]):
    """The most expensive rows, the sum of all other rows (`others`, of `others_rows` rows), and the exact total.

    A report never leaves anything out: the rows and `others` always add up to `total`.
    """

    rows: tuple[Row, ...]
    total: Use
    others: Use = Use()
    others_rows: int = 0


@dataclass(frozen=True, slots=True)
class ReportedCall:
    """One call of a month, as an export shows it.

    `state` is `settled`, `released`, `dispatched` (it is under way) or `review` (its outcome is not known yet).
    `resolution` says why it was released, or by what it was decided where its outcome was unknown; `review_reason` why
    it was; `basis` whose count was charged. `charged_in_month_microusd` is the part of the charge that is this month's:
    all of it or 0. A quantity that was not metered is None.
    """

    usage_id: str
    begun_at: datetime
    closed_at: datetime | None
    product: str | None
    membership_id: str | None
    did: str
    route: str
    model: str
    state: str
    review_reason: str | None
    resolution: str | None
    basis: str | None
    max_cost_microusd: int
    charged_microusd: int
    charged_in_month_microusd: int
    quantities: dict[str, int | None] = field(default_factory=dict)
