"""Parsing and comparison of scopes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.rules import scopes


def test_a_scope_is_split_in_order_and_once() -> None:
    assert scopes.parse("wallet:read infer:fast wallet:read") == ["wallet:read", "infer:fast"]


@pytest.mark.parametrize(
    "text", ["", " ", "a  b", " a", "a ", "a\tb", "a\nb", 'a"b', "a\\b", "é", "a\x00", "a\u00a0b", "a " * 3000 + "a"]
)
def test_lists_that_rfc_6749_does_not_allow_are_refused(text: str) -> None:
    with pytest.raises(ValueError):
        scopes.parse(text)


@pytest.mark.parametrize(
    ("granted", "scope", "expected"),
    [
        ({"infer:fast"}, "infer:fast", True),
        ({"infer:*"}, "infer:fast", True),
        ({"infer:*"}, "infer:vendor/large-2", True),
        ({"infer:*"}, "infer:*", True),
        ({"infer:fast"}, "infer:*", False),
        ({"infer:fast"}, "infer:faster", False),
        ({"infer:fast"}, "infer:fas", False),
        ({"infer:*"}, "infer:", False),
        ({"infer:*"}, "infer", False),
        ({"infer:*"}, "inference:fast", False),
        ({"infer:*"}, "wallet:read", False),
        ({"*"}, "wallet:read", False),
        ({"*:*"}, "wallet:read", False),
        ({"infer:f*"}, "infer:fast", False),
        (set(), "wallet:read", False),
    ],
)
def test_covers(granted: set[str], scope: str, expected: bool) -> None:
    assert scopes.covers(granted, scope) is expected


@pytest.mark.parametrize(
    ("requested", "granted", "expected"),
    [
        (["wallet:read", "orgs:manage"], ["wallet:read"], ["wallet:read"]),
        (["infer:fast", "infer:slow"], ["infer:*"], ["infer:fast", "infer:slow"]),
        (["infer:*"], ["infer:fast", "wallet:read"], ["infer:fast"]),
        (["infer:*"], ["infer:*"], ["infer:*"]),
        (["infer:*", "infer:fast"], ["infer:fast"], ["infer:fast"]),
        ([], ["wallet:read"], []),
        (["wallet:read"], [], []),
    ],
)
def test_within(requested: list[str], granted: list[str], expected: list[str]) -> None:
    assert scopes.within(requested, granted) == expected


@given(
    st.lists(st.sampled_from(["a:*", "a:b", "a:c", "b:*", "b:b", "a", "*"])),
    st.lists(st.sampled_from(["a:*", "a:b", "b:b", "a"])),
)
def test_nothing_beyond_either_side_is_ever_within(requested: list[str], granted: list[str]) -> None:
    for scope in scopes.within(requested, granted):
        assert scopes.covers(granted, scope)
        assert scopes.covers(requested, scope)


@given(st.text())
def test_any_text_is_refused_or_parsed(text: str) -> None:
    try:
        parsed = scopes.parse(text)
    except ValueError:
        return
    assert all(scopes.is_scope(scope) for scope in parsed)
