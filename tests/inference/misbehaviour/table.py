"""The table of routes and behaviours: forms of routes for which all is alike share a column."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.inference.misbehaviour.behaviours import BEHAVIOURS
from tests.inference.misbehaviour.row import cases_of
from tests.inference.misbehaviour.rows import ROWS

PAGE_PATH = Path(__file__).parents[3] / "docs" / "misbehaviour.md"

Cells = Mapping[str, Mapping[str, str]]
"""What became of each case, by its name, under each behaviour, by its name."""

PAGE = """# How a call ends when its upstream misbehaves

`tests/inference/misbehaviour` tries every metered route against all of these, over real sockets. A cell has the status that the
client gets, the error code (if a stream has already begun, the code is in an event), and what happens to the hold. A response of
plain bytes cannot carry an error once it has begun: **cut** means that its connection is closed before its end.

- **settled**: the usage is charged, never more than the hold
- **released**: nothing is charged
- **review**: the hold stays until it is [reconciled](metering.md#reconciliation)

<!-- Written by `python -m tests.inference.misbehaviour --write`; a test compares it. -->

"""


def expected() -> Cells:
    """Return what has to become of every case."""
    return {
        case.name: {each.name: str(each.expected(case)) for each in BEHAVIOURS if each.concerns(case)}
        for case in cases_of(ROWS)
    }


def lines_of(cells: Cells) -> list[str]:
    """Render a table in Markdown, its columns' names above it."""
    columns = _columns(cells)
    letters = [chr(ord("A") + at) for at in range(len(columns))]
    names = [f"- **{letter}**: {'; '.join(alike)}" for letter, (alike, _) in zip(letters, columns, strict=True)]
    tried = [each.name for each in BEHAVIOURS if any(each.name in column for _, column in columns)]
    rows = [[name, *(column.get(name, "—") for _, column in columns)] for name in tried]
    header = ["The upstream", *letters]
    return [*names, "", *(f"| {' | '.join(row)} |" for row in _padded([header, ["---"] * len(header), *rows]))]


def page() -> str:
    """Render docs/misbehaviour.md."""
    return PAGE + "\n".join(lines_of(expected())) + "\n"


def _columns(cells: Cells) -> list[tuple[list[str], Mapping[str, str]]]:
    alike: dict[tuple[tuple[str, str], ...], list[str]] = defaultdict(list)
    for case, column in cells.items():
        alike[tuple(sorted(column.items()))].append(case)
    return [(names, dict(column)) for column, names in alike.items()]


def _padded(rows: list[list[str]]) -> Iterable[list[str]]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in rows]
