"""CSV files: RFC 4180, no formula, and read a few hundred rows at a time."""

import asyncio
import csv
import io
from collections.abc import Iterator
from typing import Any, Literal, cast

import pytest
from django.http import StreamingHttpResponse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.core.portal.csv_files import ROWS_AT_ONCE, Cell, csv_response, name_part

ANY_SPEED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
DANGEROUS = "=+-@\t\r\n＝＋－＠"  # noqa: RUF001
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20)


async def pieces(response: StreamingHttpResponse) -> list[bytes]:
    return [piece async for piece in cast("Any", response.streaming_content)]


def written(*rows: tuple[Cell, ...]) -> str:
    response = csv_response("usage", ("a", "b"), rows)
    return b"".join(asyncio.run(pieces(response))).decode()


def test_lines_quotes_and_nothing() -> None:
    assert written(("x", 1), ('say "hi", you', None), ("two\r\nlines", -5)) == (
        '"a","b"\r\n"x","1"\r\n"say ""hi"", you",""\r\n"two\r\nlines","-5"\r\n'
    )


@ANY_SPEED
@given(st.sampled_from(DANGEROUS), TEXT)
def test_no_text_begins_as_a_formula(first: str, rest: str) -> None:
    [_, [cell, other]] = csv.reader(io.StringIO(written((first + rest, "x")), newline=""))
    assert cell.startswith("'" + first)
    assert (cell.replace("'", ""), other) == ((first + rest).replace("'", ""), "x")


@ANY_SPEED
@given(st.lists(st.tuples(TEXT, TEXT), max_size=5))
def test_what_is_written_is_what_is_read(rows: list[tuple[str, str]]) -> None:
    read = list(csv.reader(io.StringIO(written(*rows), newline="")))[1:]
    assert [[cell.replace("'", "") for cell in row] for row in read] == [
        [cell.replace("'", "") for cell in row] for row in rows
    ]


@pytest.mark.parametrize(
    "text",
    ["x;=1+1", "x; =1+1", 'x";=1+1;"', "x\t=1+1", "x\n=1+1", "x|@SUM(1)", "a,-1", " =1+1", "x;\t=1", "x;＝1"],  # noqa: RUF001
)
@pytest.mark.parametrize("separator", [";", ",", "\t", "|"])
@pytest.mark.parametrize("quotes", [csv.QUOTE_MINIMAL, csv.QUOTE_NONE])
def test_no_cell_is_a_formula_for_any_separator(text: str, separator: str, quotes: Literal[0, 3]) -> None:
    for line in csv.reader(io.StringIO(written((text, text)), newline=""), delimiter=separator, quoting=quotes):
        assert [cell for cell in line if cell.lstrip(' "').startswith(tuple(DANGEROUS[:4] + DANGEROUS[7:]))] == []


def test_rows_are_read_when_they_are_sent() -> None:
    read = 0

    def rows() -> Iterator[tuple[Cell, ...]]:
        nonlocal read
        for read in range(1, ROWS_AT_ONCE * 3):
            yield (read,)

    async def first() -> bytes:
        content = cast("Any", csv_response("usage", ("a",), rows()).streaming_content)
        return cast("bytes", await anext(content))

    assert asyncio.run(first()).count(b"\r\n") == ROWS_AT_ONCE
    assert read < ROWS_AT_ONCE


def test_a_file_is_named_after_what_it_has() -> None:
    assert csv_response("usage-acme-2026-11", (), ())["Content-Disposition"] == (
        'attachment; filename="usage-acme-2026-11.csv"'
    )
    assert "filename*=utf-8''usage-%C3%BC" in csv_response("usage-ü", (), ())["Content-Disposition"]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("Acme & Sons", "acme-sons"),
        ('"; rm -rf', "rm-rf"),
        ("../../etc", "etc"),
        ("…", "org_1"),
        ("Ünï", "ünï"),
        ("a" * 99, "a" * 60),
        ("x\r\nSet-Cookie: y", "x-set-cookie-y"),
    ],
)
def test_a_part_of_a_name_is_letters_and_digits(words: str, part: str) -> None:
    assert name_part(words, "org_1") == part
