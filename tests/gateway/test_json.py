"""Strict JSON: two readers of one body must never disagree on what it says."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.api.json import canonical, dumps, strict_loads
from gateway.contract.errors import InvalidJson

REFUSED = {
    "empty": b"",
    "not json": b"{",
    "array": b"[1]",
    "bare string": b'"a"',
    "not utf-8": b'{"a":"\xff"}',
    "byte order mark": b"\xef\xbb\xbf{}",
    "duplicate name": b'{"a":1,"a":2}',
    "nested duplicate name": b'{"a":[{"b":1,"b":1}]}',
    "duplicate by escape": b'{"a":1,"\\u0061":2}',
    "not a number": b'{"a":NaN}',
    "infinity": b'{"a":-Infinity}',
    "float overflow": b'{"a":1e999}',
    "lone high surrogate": b'{"a":"\\ud800"}',
    "lone low surrogate in a name": b'{"\\udc00":1}',
    "65 levels": b'{"a":' * 65 + b"1" + b"}" * 65,
    "100,000 levels": b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "integer over 64 bits": b'{"a":18446744073709551616}',
    "integer of 5,000 digits": b'{"a":' + b"1" * 5000 + b"}",
    "raw control character": b'{"a":"\x00"}',
    "trailing text": b"{} {}",
}


@pytest.mark.parametrize("body", REFUSED.values(), ids=REFUSED.keys())
def test_refuses(body: bytes) -> None:
    with pytest.raises(InvalidJson):
        strict_loads(body)


def test_reads_what_is_well_formed() -> None:
    body = '{"text":"é\\ud83d\\ude00","n":18446744073709551615,"x":1.5,"list":[null,true]}'.encode()
    assert strict_loads(body) == {"text": "é😀", "n": 2**64 - 1, "x": 1.5, "list": [None, True]}


def test_reads_64_levels() -> None:
    assert strict_loads(b'{"a":' * 64 + b"1" + b"}" * 64)


def test_takes_no_quadratic_time_on_escaped_quotes() -> None:
    with pytest.raises(InvalidJson):
        strict_loads(b'"' + b'\\"' * 2_000_000 + b"[" * 70)


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), JSON_VALUES, max_size=5))
def test_reads_back_whatever_it_writes(value: dict) -> None:
    assert strict_loads(dumps(value)) == value


@given(st.binary(max_size=200))
def test_answers_any_bytes_with_an_object_or_its_one_error(body: bytes) -> None:
    with contextlib.suppress(InvalidJson):
        assert isinstance(strict_loads(body), dict)


def test_canonical_form_ignores_order_and_space() -> None:
    assert canonical(strict_loads(b'{"b": 1, "a": [ 2 ]}')) == canonical(strict_loads(b'{"a":[2],"b":1}'))
