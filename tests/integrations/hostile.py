"""Hostile JSON values for every place in a body."""

import json
from collections.abc import Iterator
from typing import Any

HOSTILE = {
    "beyond 64 bits": "9" * 400,
    "beyond 64 bits within": '{"a":[' + "9" * 25 + "]}",
    "a large float": "1e308",
    "an infinite float": "1e999",
    "NaN": "NaN",
    "NUL": '"a\\u0000b"',
    "NUL in a name": '{"a\\u0000":1}',
    "a lone surrogate": '"\\ud800"',
    "deep": "[" * 60 + "]" * 60,
    "too deep": '{"a":' * 70 + "1" + "}" * 70,
    "duplicate names": '{"a":1,"a":2}',
    "null": "null",
    "true": "true",
    "negative": "-1",
    "fraction": "1.5",
    "text": '"x"',
    "long text": json.dumps("x" * 70_000),
    "object": "{}",
    "list": "[]",
    "texts": '["a","a"]',
    "long name": '{"' + "k" * 5000 + '":1}',
    "right to left": '"\\u202e\\ud83d\\ude00"',
}


def spoiled(good: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Yield a body for each hostile value in each place, with the outermost member that the error must name."""
    for hostile in HOSTILE.values():
        yield "unknown", _with({**good, "unknown": "@"}, hostile)
        for name, value in good.items():
            yield name, _with({**good, name: "@"}, hostile)
            if isinstance(value, list):
                for item in value or [{}]:
                    yield name, _with({**good, name: ["@"]}, hostile)
                    for inner in item if isinstance(item, dict) else ():
                        yield name, _with({**good, name: [{**item, inner: "@"}]}, hostile)
            if isinstance(value, dict):
                for inner in value or {"a": 1}:
                    yield name, _with({**good, name: {**value, inner: "@"}}, hostile)


def _with(body: dict[str, Any], hostile: str) -> bytes:
    return json.dumps(body).replace('"@"', hostile).encode()
