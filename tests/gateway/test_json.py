"""Strict JSON: two readers of one body must never disagree on what it says."""

import asyncio
import contextlib
import gc
import json
import threading
import tracemalloc
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.core.contract.errors import InvalidJson
from gateway.core.json import parts as json_parts
from gateway.core.json import reading as json_reading
from gateway.core.json import strict as strict_json
from gateway.core.json.parts import WINDOW_BYTES, divide
from gateway.core.json.pieces import PIECE_CHARACTERS, PIECEWISE_BYTES, SORTED_CHARACTERS, canonical, dumps_in_pieces
from gateway.core.json.strict import UNDIVIDED_BYTES, dumps, has_more_values, strict_loads
from gateway.core.runtime.offload import offload
from tests.support.calls import calls_during

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
    "an integer too large for a float behind 1,000 levels": b'{"a":' + b"[" * 1_000 + b"7" * 400 + b"]" * 1_000 + b"}",
    "65 levels": b'{"a":' * 65 + b"1" + b"}" * 65,
    "65 levels, the last one an empty array": b'{"a":' + b"[" * 64 + b"]" * 64 + b"}",
    "65 levels, the last one an empty object": b'{"a":' * 64 + b"{}" + b"}" * 64,
    "100,000 levels": b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "100,001 elements": b'{"a":[' + b"1," * 99_999 + b"1]}",
    "100,001 empty arrays": b'{"a":[' + b"[]," * 99_999 + b"[]]}",
    "100,001 members": b"{" + b",".join(b'"%d":1' % name for name in range(100_001)) + b"}",
    "100,001 values behind escapes": b'{"a":["\\"\\",' + b"1," * 99_998 + b"1]}",
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
    assert strict_loads(b'{"a":' + b"[" * 63 + b"]" * 63 + b"}")


def test_takes_no_quadratic_time_on_escaped_quotes() -> None:
    with pytest.raises(InvalidJson):
        strict_loads(b'"' + b'\\"' * 2_000_000 + b"[" * 70)


AS_MANY_AS_MAY_BE = {
    "elements": b'{"a":[' + b"1," * 99_998 + b"1]}",
    "empty containers": b'{"a":[' + b"[] ,{ }," * 49_999 + b"[]]}",
    "arrays of one text": b'{"a":[' + b'["x"],' * 49_998 + b'["x"],1]}',
    "members": b"{" + b",".join(b'"%d":1' % name for name in range(100_000)) + b"}",
    "commas and brackets in a text": b'{"a":"' + b'\\",[{' * 200_000 + b'"}',
}


@pytest.mark.parametrize("body", AS_MANY_AS_MAY_BE.values(), ids=AS_MANY_AS_MAY_BE.keys())
def test_reads_100_000_members_and_elements(body: bytes) -> None:
    assert strict_loads(body)


def test_a_caller_may_set_a_lower_limit() -> None:
    assert strict_loads(b'{"a":[' + b"1," * 9_998 + b"1]}", 10_000)
    with pytest.raises(InvalidJson):
        strict_loads(b'{"a":[' + b"1," * 9_999 + b"1]}", 10_000)


@given(st.dictionaries(st.text(), st.lists(st.text(alphabet='\\"[]{},: a') | st.lists(st.none())), max_size=8))
def test_counts_members_and_elements_exactly(value: dict) -> None:
    elements = [item for items in value.values() for item in items]
    values = len(value) + len(elements) + sum(len(item) for item in elements if isinstance(item, list))
    body = orjson.dumps(value, option=orjson.OPT_INDENT_2) + b" " * 2 * values  # so that its length decides nothing
    assert not has_more_values(body, values)
    assert values == 0 or has_more_values(body, values - 1)


def test_refuses_many_values_before_it_makes_any() -> None:
    tracemalloc.start()
    with pytest.raises(InvalidJson):
        strict_loads(b'{"a":[' + b"[]," * 1_000_000 + b"[]]}")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 * 1024 * 1024  # the arrays alone would be five times that


@pytest.mark.parametrize("digits", ["18446744073709551616", "-9223372036854775809", "7" * 5000])
def test_an_integer_beyond_64_bits_goes_out_as_it_came(digits: str) -> None:
    value = strict_loads(b'{"seed":%b}' % digits.encode())
    assert not isinstance(value["seed"], int | float | str)
    assert canonical(value) == b'{"seed":%b}' % digits.encode()


async def where_it_runs() -> tuple[str, bool]:
    return await offload(lambda: (threading.current_thread().name, gc.isenabled()))


def test_large_bodies_have_one_thread_and_no_collector() -> None:
    async def several() -> list[tuple[str, bool]]:
        return await asyncio.gather(*(where_it_runs() for _ in range(4)))

    assert set(asyncio.run(several())) == {("large-bodies_0", False)}
    assert gc.isenabled()


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


NAMES = st.sampled_from(["a", "b", "\\u0061", '\\"', ":", "\\\\"])
NUMBERS = st.sampled_from(
    ["1", "-0", "1.5e3", "18446744073709551615", "18446744073709551616", "1e300", "1e400", "7" * 400]
)
TEXTS = NAMES.map(lambda text: f'"{text}"')
DOCUMENTS = st.recursive(
    NUMBERS | TEXTS | st.sampled_from(["true", "null", "NaN", '"\\ud800"', "01"]),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: f"[{' , '.join(items)}]")
        | st.lists(st.tuples(TEXTS, inner), max_size=3).map(
            lambda pairs: "{" + ", ".join(f"{name} : {value}" for name, value in pairs) + "}"
        )
    ),
    max_leaves=12,
)


def read_slowly(text: str) -> dict | None:
    """Read a document by the standard library alone, or return None where it is to be refused."""

    def unique(pairs: list) -> dict:
        if len(dict(pairs)) < len(pairs):
            raise ValueError
        return dict(pairs)

    def finite(digits: str) -> float:
        if float(digits) in (float("inf"), float("-inf")):
            raise ValueError
        return float(digits)

    def refuse(name: str) -> None:
        raise ValueError

    try:
        value = json.loads(text, object_pairs_hook=unique, parse_float=finite, parse_constant=refuse)
        json.dumps(value, ensure_ascii=False).encode()
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


@settings(max_examples=500)
@given(st.lists(st.tuples(TEXTS, DOCUMENTS), max_size=4))
def test_reads_and_refuses_what_a_plain_reader_does(pairs: list) -> None:
    text = "{" + ",".join(f"{name}:{value}" for name, value in pairs) + "}"
    try:
        value = json.loads(dumps(strict_loads(text.encode())))
    except InvalidJson:
        value = None
    assert value == read_slowly(text)


LARGE = st.text(st.sampled_from('a\n"\\\U0001f600'), min_size=1).map(lambda text: text * (PIECE_CHARACTERS // 2))


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.text(), JSON_VALUES | LARGE | st.lists(LARGE, max_size=2), max_size=4))
def test_writes_a_large_text_in_pieces_like_a_small_one(value: dict) -> None:
    assert dumps_in_pieces(value) == dumps(value)
    assert canonical(value, PIECEWISE_BYTES + 1) == canonical(value)


@contextlib.contextmanager
def divided_by(window_bytes: int) -> Iterator[None]:
    """Have every text be divided, into parts of so many bytes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strict_json, "UNDIVIDED_BYTES", -1)
        patch.setattr(json_parts, "WINDOW_BYTES", window_bytes)
        patch.setattr(json_reading, "WINDOW_BYTES", window_bytes)
        yield


def read_or_refuse(body: bytes) -> tuple[bytes | None, str]:
    try:
        return dumps(strict_loads(body)), ""
    except InvalidJson as error:
        return None, error.message


WINDOWS = st.sampled_from([13, 14, 16, 23, 64])  # from just more than the longest character's escapes on
SPACES = st.sampled_from(["", "", " ", "\n\t", " " * 40])
LONG_TEXTS = st.lists(st.sampled_from(["a" * 30, "é", "😀", "\\ud83d\\ude00", '\\"', "\\\\", "\\n", ",", "[{", ":"]))
STRINGS = LONG_TEXTS.map(lambda texts: f'"{"".join(texts)}"') | TEXTS
LONG_DOCUMENTS = st.recursive(
    NUMBERS | STRINGS | st.sampled_from(["true", "null", "NaN", '"\\ud800"', "01", "[]", "{}", "]", ""]),
    lambda inner: (
        st.lists(st.tuples(SPACES, inner), max_size=4).map(lambda items: f"[{','.join(map(''.join, items))}]")
        | st.lists(st.tuples(STRINGS, SPACES, inner), max_size=4).map(
            lambda members: "{" + ",".join(f"{name}{space}:{value}" for name, space, value in members) + "}"
        )
    ),
    max_leaves=30,
)


@settings(max_examples=500, deadline=None)
@given(st.lists(st.tuples(STRINGS, LONG_DOCUMENTS), min_size=1, max_size=4), WINDOWS)
def test_reads_and_refuses_in_parts_what_it_does_in_one_piece(pairs: list, window_bytes: int) -> None:
    body = ("{" + ",".join(f"{name}:{value}" for name, value in pairs) + "}").encode()
    whole = read_or_refuse(body)
    with divided_by(window_bytes):
        assert read_or_refuse(body) == whole


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.text(), JSON_VALUES, max_size=5), st.data(), WINDOWS)
def test_reads_and_refuses_broken_texts_in_parts_as_in_one_piece(
    value: dict, data: st.DataObject, window_bytes: int
) -> None:
    body = json.dumps(value, ensure_ascii=data.draw(st.booleans())).encode()
    at = data.draw(st.integers(0, len(body)))
    put = data.draw(st.sampled_from([b"", *(bytes([byte]) for byte in b'[]{},:"\\0 \xff\xf0\x80')]))
    broken = body[:at] + put + body[at + data.draw(st.integers(0, 2)) :]
    whole = read_or_refuse(broken)
    with divided_by(window_bytes):
        assert read_or_refuse(broken)[0] == whole[0]


LONG = b"p" * (UNDIVIDED_BYTES // 2 + 1)
TEXT = b'"%b"' % LONG

REFUSED_IN_PARTS = {
    "a name twice": b'{"a":%b,"b":%b,"a":2}' % (TEXT, TEXT),
    "a long name twice": b'{"%b":1,"b":2,"%b":3}' % (LONG, LONG),
    "a long name twice by escape": b'{"%bp":1,"b":2,"%b\\u0070":3}' % (LONG, LONG),
    "a part that ends with a comma": b'{"a":[%b,],"b":[%b]}' % (TEXT, TEXT),
    "a part that begins with a comma": b'{"a":[,%b],"b":[%b]}' % (TEXT, TEXT),
    "an element without a comma": b'{"a":[%b [] %b]}' % (TEXT, TEXT),
    "a member in an array": b'{"a":[%b,"b":1,%b]}' % (TEXT, TEXT),
    "an element in an object": b'{"a":{"b":[%b],2,"c":[%b]}}' % (TEXT, TEXT),
    "a bracket of another kind": b'{"a":[%b},"b":[%b]}' % (TEXT, TEXT),
    "a bracket too many": b'{"a":[%b]]},"b":[%b]}' % (TEXT, TEXT),
    "a comma behind the object": b'{"a":[%b]},{"b":[%b]}' % (TEXT, TEXT),
    "an array": b"[%b,%b]" % (TEXT, TEXT),
    "a text": b'"%b%b"' % (LONG, LONG),
    "a lone surrogate in a long text": b'{"a":"%b\\ud83d%b"}' % (LONG, LONG),
    "a pair of surrogates in two texts": b'{"a":["%b\\ud83d","\\ude00%b"]}' % (LONG, LONG),
    "a control character in a long text": b'{"a":"%b\n%b"}' % (LONG, LONG),
    "a long text that is not UTF-8": b'{"a":"%b\xf0\x9f\x98%b"}' % (LONG, LONG),
    "a text without an end": b'{"a":%b,"b":"%b}' % (TEXT, LONG),
    "65 levels": b'{"a":%b,"b":' % TEXT + b"[" * 64 + b"1,%b" % TEXT + b"]" * 64 + b"}",
    "65 levels, the last one empty": b'{"a":%b,"b":' % TEXT + b"[" * 64 + b"]" * 64 + b"}",
}


@pytest.mark.parametrize("body", REFUSED_IN_PARTS.values(), ids=REFUSED_IN_PARTS.keys())
def test_refuses_in_parts(body: bytes) -> None:
    with pytest.raises(InvalidJson):
        strict_loads(body)


READ_IN_PARTS = {
    "64 levels": b'{"a":%b,"b":' % TEXT + b"[" * 63 + b"1,%b" % TEXT + b"]" * 63 + b"}",
    "a text of every kind of character": b'{"a":"%b"}' % ('aé中😀\\ud83d\\ude00\\"\\\\'.encode() * 20_000),
    "nothing but backslashes": b'{"a":"%b"}' % (b"\\" * (UNDIVIDED_BYTES + 2)),
    "long names among others": b'{"b":1,"%b":{"c":2,"%bp":%b},"":3}' % (LONG, LONG, TEXT),
    "an integer beyond 64 bits": b'{"a":%b,"b":[18446744073709551616,%b]}' % (TEXT, b"7" * UNDIVIDED_BYTES),
    "nothing but space": b'{"a":[%b1%b,2]}' % (b" " * UNDIVIDED_BYTES, b"\n" * UNDIVIDED_BYTES),
}


def read_whole(body: bytes) -> Any:
    return strict_json._read(body, strict_json._DECODER)


@pytest.mark.parametrize("body", READ_IN_PARTS.values(), ids=READ_IN_PARTS.keys())
def test_reads_in_parts(body: bytes) -> None:
    assert dumps(strict_loads(body)) == dumps(read_whole(body))


def test_no_part_is_longer_than_a_few_windows() -> None:
    body = b'{"a":[%b],%b}' % (b",".join([b'"\\",[]"'] * 99_000), b",".join(b'"%096d":1' % n for n in range(9_000)))
    parts = list(divide(body))
    assert b",".join(body[part.start : part.end] for part in parts) == body
    assert max(part.end - part.start for part in parts) <= 2 * WINDOW_BYTES


MEGABYTE = {
    "members": b"{%b}" % b",".join(b'"%096d":1' % number for number in range(10_000)),
    "a text": b'{"a":"%b"}' % ("😀".encode() + b"x" * 1_000_000),
    "a name": b'{"%b":1}' % ("😀".encode() + b"x" * 1_000_000),
    "an integer beyond 64 bits and a text": b'{"a":18446744073709551616,"b":"%b"}' % (b"x" * 1_000_000),
}


@pytest.mark.parametrize("body", MEGABYTE.values(), ids=MEGABYTE.keys())
def test_reads_a_large_text_in_many_calls(body: bytes) -> None:
    assert calls_during(lambda: strict_loads(body))["loads"] >= 1_000_000 // (2 * WINDOW_BYTES)


def test_sorts_many_names_in_many_calls() -> None:
    value = {f"{number * 7919 % 5000:096}{'😀' * (number % 2)}": number for number in range(5000)}
    assert sum(map(len, value)) > SORTED_CHARACTERS
    assert dumps_in_pieces(value, sort_names=True) == canonical(value)
    assert calls_during(lambda: dumps_in_pieces(value, sort_names=True))["_compared"] > 5000
