"""Reports about an owner's usage in a month.

All reports count the same way. Calls and tokens belong to the UTC day on which a call began, charges to the day on
which the ledger posted them. A call that is settled after midnight is therefore charged on the next day, and possibly
in the next month. Released calls are not counted.
"""

from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Generic, TypeVar


@dataclass(frozen=True, slots=True)
class Use:
    """The number of calls begun, their tokens, and the charges posted in micro-USD."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    charged_microusd: int = 0

    def __add__(self, other: "Use") -> "Use":
        """Add two disjoint uses."""
        return Use(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.charged_microusd + other.charged_microusd,
        )

    def __sub__(self, other: "Use") -> "Use":
        """Subtract a part of a use."""
        return self + replace(
            other,
            calls=-other.calls,
            input_tokens=-other.input_tokens,
            output_tokens=-other.output_tokens,
            charged_microusd=-other.charged_microusd,
        )


@dataclass(frozen=True, slots=True)
class MemberUse:
    """One person's use of one product. `product` is a slug, None for calls without a product; `membership_id` is None
    for an account's own calls; `did` is the caller."""

    product: str | None
    membership_id: str | None
    did: str
    use: Use


@dataclass(frozen=True, slots=True)
class DayUse:
    """The use of a UTC day."""

    day: date
    use: Use


@dataclass(frozen=True, slots=True)
class ModelUse:
    """The use of a model, by the name it was called by: an alias or a raw model."""

    model: str
    use: Use


@dataclass(frozen=True, slots=True)
class AppUse:
    """The use of an app. `client_id` is None if it was not recorded, as before daily totals named apps."""

    client_id: str | None
    use: Use


Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class UsageReport(Generic[Row]):
    """The most expensive rows, the sum of all other rows (`others`, of `others_rows` rows), and the exact total.

    A report omits nothing: the rows and `others` always add up to `total`.
    """

    rows: tuple[Row, ...]
    total: Use
    others: Use = Use()
    others_rows: int = 0


@dataclass(frozen=True, slots=True)
class ReportedCall:
    """One call of a month, as exported.

    `state` is `settled`, `released`, `dispatched` (in progress) or `review` (outcome unknown). `resolution` says why it
    was released, or how an unknown outcome was decided; `review_reason` why it was unknown; `basis` whose count was
    charged. `charged_in_month_microusd` is the part of the charge posted in this month: all of it or 0. A quantity that
    was not metered is None.
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
