"""The demo backend's own arithmetic: its tokens, its vectors, and its values for JSON schemas."""

import base64
import contextlib
import math
import struct
import time

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.vendors.demo.schema import value_for
from inference.vendors.demo.tokens import count_tokens, pieces_of
from inference.vendors.demo.vectors import little_endian, vector_of


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", []),
        ("hello", ["hello"]),
        ("hello world", ["hello", " world"]),
        ("extraordinary", ["extraord", "inary"]),
        ("two\n\nlines ", ["two", "\n\nlines "]),
        ("  ", ["  "]),
    ],
)
def test_a_token_is_up_to_eight_characters_of_a_word(text: str, pieces: list[str]) -> None:
    assert pieces_of(text) == pieces
    assert count_tokens(text) == len(pieces)


@given(st.text())
def test_tokens_give_the_text_again_and_are_no_more_than_its_bytes(text: str) -> None:
    assert "".join(pieces_of(text)) == text
    assert count_tokens(text) <= len(text.encode("utf-8", "surrogatepass"))


def cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_texts_that_share_words_lie_near_each_other() -> None:
    cat, also_cat, money = (
        vector_of(text, 256)
        for text in ("the cat sat on the mat", "a cat sat on a mat", "quarterly revenue fell by a tenth")
    )
    assert cosine(cat, also_cat) > 0.6
    assert cosine(cat, money) < 0.3


@given(st.text(min_size=1, max_size=40), st.integers(1, 64))
def test_vectors_have_length_one_and_survive_single_precision(text: str, dimensions: int) -> None:
    vector = vector_of(text.encode(errors="replace").decode(), dimensions)
    assert len(vector) == dimensions
    assert math.isclose(cosine(vector, vector), 1.0, rel_tol=1e-5)
    assert list(struct.unpack(f"<{dimensions}f", little_endian(vector))) == vector
    assert base64.b64decode(base64.b64encode(little_endian(vector))) == little_endian(vector)


SCHEMAS = [
    {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 3}},
        "required": ["city"],
    },
    {
        "type": "object",
        "properties": {"unit": {"enum": ["c", "f"]}, "exact": {"const": 7}},
        "required": ["unit", "exact"],
    },
    {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a", "b"],
        "additionalProperties": {"type": "string"},
    },
    {"type": "array", "items": {"type": "number", "exclusiveMinimum": 0, "maximum": 0.5}, "minItems": 3},
    {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "minItems": 2, "items": False},
    {"type": "array", "items": {"type": "string"}, "maxItems": 0},
    {"type": "string", "minLength": 12, "maxLength": 14},
    {"type": "string", "maxLength": 2},
    {"type": "string", "format": "date-time"},
    {"type": "integer", "minimum": 10, "multipleOf": 7},
    {"type": "integer", "exclusiveMaximum": -5},
    {"type": "integer", "maximum": -5},
    {"type": "number", "minimum": 1.5, "maximum": 1.5},
    {"type": "number", "exclusiveMaximum": 0},
    {"type": ["null", "integer"]},
    {"type": "null"},
    {"type": "boolean"},
    {"anyOf": [{"type": "null"}, {"type": "integer"}]},
    {"oneOf": [{"type": "object", "properties": {"kind": {"const": "a"}}, "required": ["kind"]}, {"type": "null"}]},
    {
        "allOf": [
            {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
            {"properties": {"b": {"type": "string"}}, "required": ["b"]},
        ]
    },
    {
        "$ref": "#/$defs/node",
        "$defs": {
            "node": {
                "type": "object",
                "properties": {"next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
                "required": ["next"],
                "additionalProperties": False,
            }
        },
    },
    {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#"}}}, "required": ["children"]},
    {"properties": {"a": {}}},
    True,
    {},
]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_value_satisfies_its_schema(schema: object) -> None:
    value = value_for(schema)
    jsonschema.Draft202012Validator(schema).validate(value)
    assert value == value_for(schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}},
        {"type": "object", "properties": {"self": {"$ref": "#"}}, "required": ["self"]},
        {"allOf": [{"$ref": "#"}]},
        {"anyOf": [{"$ref": "#"}]},
        {"allOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {"properties": {name: {"$ref": "#"} for name in "abcdefgh"}, "required": list("abcdefgh")},
        {"type": "array", "items": {"$ref": "#"}, "minItems": 1000},
        {"type": "array", "items": {"$ref": "#"}, "minItems": 10**12},
    ],
)
def test_a_schema_without_end_comes_to_one_soon(schema: object) -> None:
    started = time.thread_time()
    with contextlib.suppress(ValueError, RecursionError):
        value_for(schema)
    # It takes 0.2 s of a slow core; one that is shared, and the garbage collector, may take a few times as much.
    assert time.thread_time() - started < 5
