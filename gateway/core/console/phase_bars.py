"""Bars that show what took how long, in the order of time: rows for `console/phases.html`."""

from typing import NamedTuple

from gateway.core.console.moments import lasted

VISIBLE_PERCENT = 0.4


class PhaseBar(NamedTuple):
    """A row: the bar begins at `x` and is `width` wide, in percent of the whole; `kind` is its class in `console.css`."""

    name: str
    kind: str
    x: float
    width: float
    took: str


def bar(name: str, begin: int, end: int, *, whole: int, kind: str) -> PhaseBar:
    """Build the row of a phase from `begin` to `end`, of a whole of so many microseconds. A phase is never invisible."""
    width = max(round((end - begin) * 100 / whole, 2), VISIBLE_PERCENT) if whole > 0 else VISIBLE_PERCENT
    x = round(begin * 100 / whole, 2) if whole > 0 else 0.0
    return PhaseBar(name, kind, min(x, 100 - VISIBLE_PERCENT), min(width, 100.0), lasted(end - begin))
