"""The lines of a report's table, with a bar beside each."""

from collections.abc import Iterable
from typing import NamedTuple

from billing.rules.bars import share_of
from billing.rules.usage_reports import Use


class Line(NamedTuple):
    """One line: what it is about, what of it (`part`, such as a product), and how long its bar is in percent.

    Lines about the same thing have the same `key`; names may repeat.
    """

    key: str
    name: str
    part: str
    use: Use
    percent: float


class Named(NamedTuple):
    """What a use is about, in words."""

    key: str
    name: str
    use: Use
    part: str = ""


def lines(found: Iterable[Named]) -> list[Line]:
    """Measure each charge against the greatest one."""
    rows = list(found)
    greatest = max((row.use.charged_microusd for row in rows), default=0)
    return [Line(row.key, row.name, row.part, row.use, share_of(row.use.charged_microusd, greatest)) for row in rows]
