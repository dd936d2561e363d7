"""Opaque, time-ordered identifiers: `<prefix>_<26 characters>`."""

import os
import time
from itertools import product

# Crockford's base32: no i, l, o, u.
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS = ["".join(pair) for pair in product(_ALPHABET, repeat=2)]


def new_id(prefix: str) -> str:
    """Make an id that sorts by creation time (48 bits of milliseconds) and cannot be guessed (80 random bits)."""
    number = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(os.urandom(10), "big")
    return f"{prefix}_{_base32(number)}"


def _base32(number: int) -> str:
    # 128 bits are 13 pairs of digits of 5 bits, with two bits to spare, which stand in front.
    return "".join([_PAIRS[number >> shift & 1023] for shift in range(120, -1, -10)])
