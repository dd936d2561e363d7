"""Sends tables as CSV files (RFC 4180), streamed, and safe to open in a spreadsheet."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from django.http import StreamingHttpResponse

from gateway.core.portal.streams import file_response

Cell = str | int | None
Row = Sequence[Cell]

ROWS_AT_ONCE = 500
NAME_MAX_CHARACTERS = 60

# A spreadsheet interprets a text that starts with one of these, or its full-width form, as a formula. Where it takes
# another character than the comma for the separator, a cell can also start within a text, even a quoted one.
_FORMULA = re.compile(r"""^(?=[\t\r\n])|(^|[;,|\t\r\n"'])([ ]*)(?=[=+\-@＝＋－＠])""")  # noqa: RUF001


def csv_response(name: str, header: Row, rows: Iterable[Row]) -> StreamingHttpResponse:
    """Respond with a file of that name, a header and rows. Only a few hundred rows are in memory at a time, and no
    database connection is held while they are sent."""
    return file_response(f"{name}.csv", "text/csv; charset=utf-8; header=present", csv_pieces(header, rows))


def csv_pieces(header: Row, rows: Iterable[Row]) -> Iterator[str]:
    """Write a header and rows as CSV, a few hundred rows at a time."""
    lines = _lines(chain([header], rows))
    while piece := "".join(islice(lines, ROWS_AT_ONCE)):
        yield piece


def name_part(words: str, otherwise: str) -> str:
    """Return a text as a part of a file's name, such as `acme-and-sons`; `otherwise` if no letter or digit is left."""
    part = re.sub(r"[\W_]+", "-", words.lower())[:NAME_MAX_CHARACTERS].strip("-")
    return part or otherwise


def _lines(rows: Iterable[Row]) -> Iterator[str]:
    text = io.StringIO()
    write = csv.writer(text, lineterminator="\r\n", quoting=csv.QUOTE_ALL).writerow
    for row in rows:
        write([_escaped(cell) for cell in row])
        yield text.getvalue()
        text.seek(0)
        text.truncate()


def _escaped(cell: Cell) -> Cell:
    """Prefix what would be interpreted as a formula with an apostrophe, which spreadsheets do not show. OWASP, "CSV
    Injection".
    """
    return _FORMULA.sub(_with_apostrophe, cell) if isinstance(cell, str) else cell


def _with_apostrophe(found: re.Match[str]) -> str:
    return f"{found[1] or ''}'{found[2] or ''}"
