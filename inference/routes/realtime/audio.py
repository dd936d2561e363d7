"""Computes the maximum tokens of audio, by the session's format."""

from collections.abc import Mapping
from typing import Any

from gateway.core.contract.errors import InvalidRequest

TOKENS_PER_SECOND_MAX = 20
"""Twice the vendor's tokens per second of audio input, and equal to those per second of audio output."""

BYTES_PER_SECOND = {"audio/pcm": 48_000, "audio/pcmu": 8_000, "audio/pcma": 8_000}
"""PCM is 24 kHz, 16 bits, one channel; G.711 is 8 kHz, 8 bits."""

DEFAULT_FORMAT = "audio/pcm"


def read_format(value: Any, param: str) -> str:
    """Read a format object's type, or raise InvalidRequest."""
    kind = value.get("type") if isinstance(value, Mapping) else None
    if kind not in BYTES_PER_SECOND:
        raise InvalidRequest("The format must be audio/pcm, audio/pcmu or audio/pcma.", param=f"{param}.type")
    if value.get("rate") not in (None, 24_000):
        raise InvalidRequest("The rate must be 24000.", param=f"{param}.rate")
    return str(kind)


def most_tokens_format(*kinds: str) -> str:
    """Return the format with the most tokens per byte."""
    return min(kinds, key=BYTES_PER_SECOND.__getitem__)


def tokens_of(size_bytes: int, kind: str) -> int:
    """Return the maximum tokens of `size_bytes` of audio, rounded up."""
    return -(-size_bytes * TOKENS_PER_SECOND_MAX // BYTES_PER_SECOND[kind])


def bytes_of_base64(characters: int) -> int:
    """Return the number of bytes that a base64 text encodes, or a few more."""
    return -(-characters * 3 // 4)
