"""Computes vectors without a model: each run of three to five characters adds 1 to or subtracts 1 from a dimension."""

import math
import struct
import zlib

_SIZES = (3, 4, 5)


def vector_of(text: str, dimensions: int) -> list[float]:
    """Embed a text as a vector of length 1 in single precision. Deterministic across machines."""
    sums = [0] * dimensions
    words = f" {' '.join(text.casefold().split())} "
    for size in _SIZES:
        for at in range(max(1, len(words) - size + 1)):
            vote = zlib.crc32(words[at : at + size].encode())
            sums[(vote >> 1) % dimensions] += 1 if vote & 1 else -1
    return _unit(sums)


def little_endian(vector: list[float]) -> bytes:
    """Encode a vector as little-endian float32, as `encoding_format: base64` requires."""
    return struct.pack(f"<{len(vector)}f", *vector)


def _unit(sums: list[int]) -> list[float]:
    length = math.sqrt(sum(value * value for value in sums))
    if not length:  # all votes cancelled out
        return [1.0, *[0.0] * (len(sums) - 1)]
    return list(struct.unpack(f"<{len(sums)}f", struct.pack(f"<{len(sums)}f", *(value / length for value in sums))))
