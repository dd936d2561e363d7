"""Opaque, time-ordered identifiers: `<prefix>_<26 characters>`."""

import os
import time
from base64 import b32hexencode

# Crockford's base32: no i, l, o, u. It sorts as RFC 4648's base32hex does.
_ALPHABET = b"0123456789abcdefghjkmnpqrstvwxyz"
_TO_ALPHABET = bytes.maketrans(b"0123456789ABCDEFGHIJKLMNOPQRSTUV", _ALPHABET)


def new_id(prefix: str) -> str:
    """Make an id that sorts by creation time (48 bits of milliseconds) and cannot be guessed (80 random bits)."""
    number = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(os.urandom(10), "big")
    return f"{prefix}_{_base32(number)}"


def _base32(number: int) -> str:
    # 128 bits are 26 digits of 5 bits with two to spare, which stand in front; 160 bits are whole blocks of base32.
    block = (number << 30).to_bytes(20, "big")
    return b32hexencode(block)[:26].translate(_TO_ALPHABET).decode()
