"""Decodes JSON from callers that is stored in the database."""

import json
from typing import Any

_INT_MIN, _INT_MAX = -(2**63), 2**64 - 1


class StoredJSONDecoder(json.JSONDecoder):
    """Decodes integers beyond 64 bits as floats, because PostgreSQL returns a float such as 1e22 as a long integer.

    JSON is stored only with integers of at most 64 bits.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "parse_int": _number})


def _number(digits: str) -> int | float:
    value = int(digits)
    return value if _INT_MIN <= value <= _INT_MAX else float(digits)
