"""How much of an amount is used, as a bar shows it."""

from typing import NamedTuple

WHOLE_PERCENT = 100


class Bar(NamedTuple):
    """Widths in percent of the bar: what is spent, and beside it what is held; together at most the whole bar.

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
    """Compare what is spent and held with a limit. A limit of nothing is always used up."""
    if limit <= 0:
        return Bar(float(WHOLE_PERCENT), 0.0, WHOLE_PERCENT)
    spent_percent = _share(min(spent, limit), limit)
    held_percent = _share(min(held, limit - min(spent, limit)), limit)
    return Bar(spent_percent, held_percent, (spent + held) * WHOLE_PERCENT // limit)


def share_of(amount: int, greatest: int) -> float:
    """Return how long the bar of an amount is beside that of the greatest one, in percent."""
    return _share(amount, greatest) if greatest > 0 else 0.0


def _share(part: int, whole: int) -> float:
    """Return a percentage with two decimals, at least as long as can be seen where there is anything."""
    return max(round(part * WHOLE_PERCENT / whole, 2), 0.5) if part > 0 else 0.0
