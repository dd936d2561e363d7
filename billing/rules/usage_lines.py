"""Lines of a report's table, each with a bar."""

from collections.abc import Iterable
from typing import NamedTuple

from billing.rules.bars import share_of
from billing.rules.usage_reports import Use


class Line(NamedTuple):
    """One line: its subject, the part of it (such as a product), and the width of its bar in percent.

    Lines with the same subject have the same `key`; names may repeat.
    """

    key: str
    name: str
    part: str
    use: Use
    percent: float


class Named(NamedTuple):
    """A use with the name of its subject."""

    key: str
    name: str
    use: Use
    part: str = ""


def lines(found: Iterable[Named]) -> list[Line]:
    """Measure each charge against the greatest one."""
    rows = list(found)
    greatest = max((row.use.charged_microusd for row in rows), default=0)
    return [Line(row.key, row.name, row.part, row.use, share_of(row.use.charged_microusd, greatest)) for row in rows]
