"""Opaque, time-ordered identifiers: `<prefix>_<26 characters>`."""

import os
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base32: no i, l, o, u


def new_id(prefix: str) -> str:
    """Make an id that sorts by creation time (48 bits of milliseconds) and cannot be guessed (80 random bits)."""
    number = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(os.urandom(10), "big")
    return f"{prefix}_{_base32(number)}"


def _base32(number: int) -> str:
    return "".join(_ALPHABET[(number >> shift) & 31] for shift in range(125, -1, -5))
