"""Opaque, time-ordered identifiers: `<prefix>_<26 characters>`."""

import os
import re
import time
from itertools import product

# Crockford's base32: no i, l, o, u.
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS = ["".join(pair) for pair in product(_ALPHABET, repeat=2)]
_DIGITS = (_ALPHABET * 8).encode()
"""Maps each of the 256 bytes to a digit; all digits are equally likely."""
_TO_BASE_32 = str.maketrans(_ALPHABET, "0123456789abcdefghijklmnopqrstuv")
"""Maps digits to those that Python reads."""


def new_id(prefix: str) -> str:
    """Create an id that sorts by creation time (48 bits of milliseconds) and cannot be guessed (80 random bits)."""
    return id_of_time(prefix, time.time_ns() // 1_000_000)


def id_of_time(prefix: str, milliseconds: int) -> str:
    """Create the id that `new_id` would create at a time, in milliseconds since the epoch."""
    random_digits = os.urandom(16).translate(_DIGITS).decode("ascii")
    return f"{prefix}_{_time_digits(milliseconds)}{random_digits}"


_MADE = re.compile(f"[a-z]+_([{_ALPHABET}]{{10}})[{_ALPHABET}]{{16}}")


def milliseconds_of(made: str) -> int | None:
    """Return the time at which `new_id` created an id, in milliseconds since the epoch; None if it did not create it."""
    found = _MADE.fullmatch(made)
    return int(found[1].translate(_TO_BASE_32), 32) if found else None


def first_id_of_time(prefix: str, milliseconds: int) -> str:
    """Return a text that sorts before every id of a time and after every one of an earlier time."""
    return f"{prefix}_{_time_digits(milliseconds)}"


def _time_digits(milliseconds: int) -> str:
    # 48 bits take 10 digits of 5 bits, with two spare bits at the front.
    return "".join([_PAIRS[milliseconds >> shift & 1023] for shift in (40, 30, 20, 10, 0)])
