"""Words for people, JSON for programs, and one line on stderr for each error."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from account_gateway_client.cli import exit_status
from account_gateway_client.errors import ClientError, GatewayError


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def print_pairs(pairs: Mapping[str, str]) -> None:
    """Print a name and what it is on each line."""
    width = max(map(len, pairs))
    for name, value in pairs.items():
        click.echo(f"{click.style(name.ljust(width), bold=True)}  {plain(value)}")


def print_table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table with a line of titles; its last column is not padded."""
    cells = [[plain(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(titles, *cells, strict=True)]
    click.secho(_line(titles, widths), bold=True)
    for row in cells:
        click.echo(_line(row, widths))


def plain(text: str) -> str:
    """Return a text of the gateway without control characters, which a terminal would obey."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


def complain(error: ClientError) -> int:
    """Say what went wrong in one line, and return the exit status."""
    text = " ".join(str(error).split())
    if isinstance(error, GatewayError) and error.request_id:
        text += f" ({error.request_id})"
    click.secho(f"agw: {plain(text)}", fg="red", err=True)
    return exit_status.of_error(error)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
