"""What calls earned and cost."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Self


@dataclass(frozen=True, slots=True)
class Margin:
    """Sums over settled calls, in micro-USD: their charges, and the cost at the upstream of those for which it is known.

    Of the calls without a known cost, `uncosted_calls` is the number and `uncosted_charged_microusd` the charges.
    """

    calls: int = 0
    charged_microusd: int = 0
    cost_microusd: int = 0
    uncosted_calls: int = 0
    uncosted_charged_microusd: int = 0

    def __add__(self, other: Self) -> "Margin":
        return Margin(
            self.calls + other.calls,
            self.charged_microusd + other.charged_microusd,
            self.cost_microusd + other.cost_microusd,
            self.uncosted_calls + other.uncosted_calls,
            self.uncosted_charged_microusd + other.uncosted_charged_microusd,
        )

    @property
    def costed_charged_microusd(self) -> int:
        """Return the charges of the calls with a known cost."""
        return self.charged_microusd - self.uncosted_charged_microusd

    @property
    def margin_microusd(self) -> int | None:
        """Return the charges less the cost of the calls with a known cost; None if there are none."""
        return None if self.calls == self.uncosted_calls else self.costed_charged_microusd - self.cost_microusd

    @property
    def percent(self) -> str:
        """Render the margin's share of those charges, such as "12.5 %"; empty if there are none."""
        margin_microusd = self.margin_microusd
        if margin_microusd is None or not self.costed_charged_microusd:
            return ""
        return f"{100 * margin_microusd / self.costed_charged_microusd:,.1f} %"


class NegativeMargin(NamedTuple):
    """A model whose last calls cost more than they earned: how many calls, the sum of their margins, and since when."""

    model: str
    calls: int
    margin_microusd: int
    since: datetime
