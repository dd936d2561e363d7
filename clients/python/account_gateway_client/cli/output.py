"""Words for people, JSON for programs, and one line on stderr for each error."""

import json
import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from account_gateway_client.cli import exit_status
from account_gateway_client.cli.advice import advice_for
from account_gateway_client.errors import ClientError, GatewayError, GatewayUnreachable

# What JSON leaves as it is: control characters that a terminal obeys, and halves of characters that no output takes.
_UNFIT = re.compile("[\x7f-\x9f\ud800-\udfff]")


def print_json(value: Any) -> None:
    """Print a value as JSON, without characters that a terminal would obey."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    click.echo(_UNFIT.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def print_pairs(pairs: Mapping[str, str]) -> None:
    """Print a name and what it is on each line."""
    width = max(map(len, pairs))
    for name, value in pairs.items():
        click.echo(f"{click.style(name.ljust(width), bold=True)}  {plain(value)}")


def print_table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table with a line of titles."""
    cells = [[plain(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(titles, *cells, strict=True)]
    click.secho(_line(titles, widths), bold=True)
    for row in cells:
        click.echo(_line(row, widths))


def utc(seconds: float) -> str:
    """Write Unix seconds as a time of UTC."""
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds))


def minute(timestamp: str | None) -> str:
    """Shorten a time of the gateway to its minute."""
    return timestamp[:16].replace("T", " ") if timestamp else ""


def plain(text: str) -> str:
    """Return a text of the gateway without control characters, which a terminal would obey."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


def warn(text: str) -> None:
    """Print a line to stderr."""
    click.echo(f"agw: {plain(' '.join(text.split()))}", err=True)


def complain(error: ClientError) -> int:
    """Print in one red line what went wrong and what to do, and return the exit status."""
    say_in_red(sentence_of(error))
    return exit_status.of_error(error)


def say_in_red(text: str) -> None:
    """Print a red line to stderr."""
    click.secho(f"agw: {plain(' '.join(text.split()))}", fg="red", err=True, color=colours())


def sentence_of(error: ClientError) -> str:
    """Return what went wrong and what to do, in one line."""
    parts = [str(error)]
    if isinstance(error, GatewayError):
        parts += [advice_for(error), f"({error.request_id})" if error.request_id else ""]
    elif isinstance(error, GatewayUnreachable):
        parts.append("Check the address and the network.")
    return " ".join(filter(None, parts))


def colours() -> bool | None:
    """Return False where the person wants none (no-color.org); None leaves it to whether a terminal reads."""
    return False if os.environ.get("NO_COLOR") else None


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
