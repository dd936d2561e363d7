"""What the ledger has to record, once more and as plainly as Python can say it: part of the oracle of the model test."""

from dataclasses import dataclass, field
from typing import Any

LOW_DEFAULT = 1_000_000


@dataclass
class Alerts:
    """A wallet's threshold, whether its two alerts are armed, and what was recorded: (type, members of its data)."""

    low: int = LOW_DEFAULT
    is_low_armed: bool = False
    is_empty_armed: bool = False
    recorded: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def note(self, type_: str, **data: Any) -> None:
        """Record one."""
        self.recorded.append((type_, data))

    def see(self, worth: int, available: int) -> None:
        """Look at what the wallet is worth: a threshold alerts once below it, and again only after it was reached again."""
        if self.is_low_armed and worth < self.low:
            self.note("wallet.low", availableMicrousd=available, thresholdMicrousd=self.low)
        if self.is_empty_armed and worth <= 0:
            self.note("wallet.empty", availableMicrousd=available)
        self.arm(worth)

    def arm(self, worth: int) -> None:
        """Arm what the wallet is above, and disarm what it is below, without a word."""
        self.is_low_armed = self.low > 0 and worth >= self.low
        self.is_empty_armed = worth > 0

    def set_low(self, low: int, worth: int, available: int) -> None:
        """Set the threshold; what the wallet has fallen below before is told by the former."""
        self.see(worth, available)
        self.low = low
        self.arm(worth)


@dataclass
class BudgetAlerts:
    """Which of a budget's thresholds were recorded, by period."""

    recorded: set[tuple[str, int]] = field(default_factory=set)

    def due(self, period: str, spent: int, limit: int) -> list[int]:
        """Return the thresholds that are reached and were not recorded in this period."""
        reached = [percent for percent in (80, 100) if spent > 0 and spent * 100 >= limit * percent]
        return [percent for percent in reached if (period, percent) not in self.recorded]
