"""How JSON that a caller sent is read from the database."""

import json
from typing import Any

_INT_MIN, _INT_MAX = -(2**63), 2**64 - 1


class StoredJSONDecoder(json.JSONDecoder):
    """Reads an integer beyond 64 bits as the float that was sent: PostgreSQL writes 1e22 out in full, digit by digit.

    JSON is written here with integers of at most 64 bits.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "parse_int": _number})


def _number(digits: str) -> int | float:
    value = int(digits)
    return value if _INT_MIN <= value <= _INT_MAX else float(digits)
