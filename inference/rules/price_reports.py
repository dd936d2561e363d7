"""Renders proposed prices as text: a table of what would change, and the rows of a configuration file."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from inference.rules.price_changes import FACTOR_MAX, Change, changes
from inference.rules.price_places import components_of, texts_of

HEADINGS = ("USD per million", "now", "proposed", "change")
SUMMARY_MAX = 3
BEYOND = f"more than a factor of {FACTOR_MAX}, or from or to zero"


def table(
    now: Mapping[str, Any], proposed: Mapping[str, Any], rounded: Sequence[str]
) -> list[tuple[str, str, str, str, str]]:
    """Return a row for each change: the place, the prices now and proposed, the percentage, and remarks."""
    return [
        (str(each.place), before(each), each.proposed or "-", percentage(each), remarks(each, rounded))
        for each in changes(now, proposed)
    ]


def summary(now: Mapping[str, Any], proposed: Mapping[str, Any]) -> str:
    """Render the first changes in one line."""
    found = changes(now, proposed)
    shown = [f"{each.place} {before(each)} → {each.proposed or '-'}" for each in found[:SUMMARY_MAX]]
    rest = len(found) - SUMMARY_MAX
    return ", ".join([*shown, *([f"and {rest} more"] if rest > 0 else [])])


def before(change: Change) -> str:
    """Render the price now; one that applies because the place has none of its own is in parentheses."""
    if change.now is not None:
        return change.now
    return "-" if change.charged_now == "0" else f"({change.charged_now})"


def percentage(change: Change) -> str:
    """Render how much more or less is charged."""
    return "new" if change.percent is None else f"{float(change.percent):+.1f} %"


def remarks(change: Change, rounded: Sequence[str]) -> str:
    """Return what an operator should look at."""
    found = [BEYOND] if change.is_beyond_bounds else []
    return "; ".join([*found, *(["rounded up"] if str(change.place) in rounded else [])])


def lines(rows: Iterable[Sequence[str]]) -> list[str]:
    """Align the rows of a table under its headings."""
    table_rows = [(*HEADINGS, ""), *map(tuple, rows)]
    widths = [max(len(row[column]) for row in table_rows) for column in range(len(HEADINGS))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, (*widths, 0), strict=True)).rstrip()
        for row in table_rows
    ]


def yaml_rows(prices: Iterable[tuple[str, Mapping[str, Any]]], key: str) -> list[str]:
    """Render prices as rows of a configuration file, each with the key that names its model.

    JSON's strings and maps are YAML's, and prices stay quoted.
    """
    return [f"  - {{{key}: {json.dumps(name)}, price: {yaml_of(components)}}}" for name, components in prices]


def yaml_of(components: Mapping[str, Any]) -> str:
    """Render a price list on one line of a configuration file."""
    return _flow(components_of(texts_of(components)))


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_key(name)}: {_flow(each)}' for name, each in value.items())}}}"
    return f"[{', '.join(map(_flow, value))}]" if isinstance(value, list) else json.dumps(value)


def _key(name: str) -> str:
    return name if name.replace("_", "").isalnum() else json.dumps(name)
