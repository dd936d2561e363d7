"""Widths of usage bars."""

from typing import NamedTuple

WHOLE_PERCENT = 100


class Bar(NamedTuple):
    """Widths of the spent and the held part, in percent of the bar; together at most 100.

    `used_percent` is the figure to show, rounded down and not capped: more than 100 if a limit was lowered.
    """

    spent_percent: float
    held_percent: float
    used_percent: int

    @property
    def is_full(self) -> bool:
        """Return whether nothing is left."""
        return self.used_percent >= WHOLE_PERCENT


def of_limit(limit: int, spent: int, held: int) -> Bar:
    """Compare spending and holds with a limit. A limit of 0 is always used up."""
    if limit <= 0:
        return Bar(float(WHOLE_PERCENT), 0.0, WHOLE_PERCENT)
    spent_percent = _share(min(spent, limit), limit)
    held_percent = _share(min(held, limit - min(spent, limit)), limit)
    return Bar(spent_percent, held_percent, (spent + held) * WHOLE_PERCENT // limit)


def share_of(amount: int, greatest: int) -> float:
    """Return the width of an amount's bar in percent of the greatest amount's."""
    return _share(amount, greatest) if greatest > 0 else 0.0


def _share(part: int, whole: int) -> float:
    """Return a percentage with two decimals, large enough to be visible if it is not 0."""
    return max(round(part * WHOLE_PERCENT / whole, 2), 0.5) if part > 0 else 0.0
