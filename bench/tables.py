"""Renders numbers and Markdown tables."""

import math
from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table whose columns also line up in a terminal."""
    lines = [list(head), *map(list, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    laid = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([laid[0], rule, *laid[1:]])


def number(value: float | None) -> str:
    """Return a number with two decimals, or a dash if there is none."""
    return "-" if value is None or math.isnan(value) else f"{value:.2f}"
