"""An outside system's words, made fit for a log."""

import pytest

from gateway.core.outbound.redaction import LOGGED_MAX_CHARACTERS, redacted


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Incorrect API key provided: sk-proj-abc123DEF456.", "Incorrect API key provided: [redacted]."),
        ("key sk-****************1234 refused", "key [redacted] refused"),
        ("Authorization: Bearer abcdefgh12345", "Authorization: [redacted]"),
        ("token eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln gone", "token [redacted] gone"),
        ("https://user:password@host/v1", "https://[redacted]host/v1"),
        ("two\r\nlines\x1b[31m and\u2028three", "two lines [31m and three"),
        ("an ordinary sentence about a risk-free task", "an ordinary sentence about a risk-free task"),
    ],
)
def test_secrets_and_line_ends_are_taken_out(text: str, line: str) -> None:
    assert redacted(text) == line


def test_a_known_key_never_shows_whatever_it_looks_like() -> None:
    assert redacted("plainkey was refused", ["plainkey", ""]) == "[redacted] was refused"


def test_a_line_is_short() -> None:
    assert redacted("x" * 10_000) == "x" * LOGGED_MAX_CHARACTERS + "…"
