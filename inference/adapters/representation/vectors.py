"""Reads vectors from an upstream's JSON or base64, checks them, and writes them in the client's format."""

import base64
import binascii
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import orjson

from gateway.core.runtime.deferred import numpy as np
from inference.adapters.exchange import NotJSONError

if TYPE_CHECKING:
    import numpy.typing as npt

Matrix: TypeAlias = "npt.NDArray[np.float64]"
Floats: TypeAlias = "npt.NDArray[np.float32]"
Int8s: TypeAlias = "npt.NDArray[np.int8]"

NUMBERS = frozenset((int, float))
"""The types of a JSON number. `isinstance` would accept booleans too."""
FLOAT32_MAX = (2 - 2**-23) * 2.0**127
"""The largest number of single precision (IEEE 754)."""
FLOAT_BYTES = 4
UNIT_TOLERANCE = 1e-6


def read_matrix(rows: Any, count: int, dimensions: int | None = None) -> Matrix:
    """Read `count` vectors of equal length, of `dimensions` if given. Raises NotJSONError."""
    if not isinstance(rows, list) or len(rows) != count:
        raise NotJSONError("not exactly one vector for each input")
    # NumPy would convert a list that contains a text to an array of texts of that length.
    if not all(isinstance(row, list) and NUMBERS.issuperset(map(type, row)) for row in rows):
        raise NotJSONError("a vector that is not a list of numbers")
    try:
        found = np.array(rows, dtype=np.float64)
    except ValueError as error:
        raise NotJSONError("vectors of different lengths") from error
    if not (np.abs(found) <= FLOAT32_MAX).all():
        raise NotJSONError("a vector that is not a list of single-precision numbers")
    if found.shape[1] == 0 or dimensions not in (None, found.shape[1]):
        raise NotJSONError("vectors without the requested or reported dimensions")
    return found


def as_matrix(vectors: "Sequence[npt.NDArray[Any]]") -> "npt.NDArray[Any]":
    """Stack vectors. Raises NotJSONError if their lengths differ, or if a value is not a number."""
    if len({len(vector) for vector in vectors}) != 1 or not len(vectors[0]):
        raise NotJSONError("vectors of different lengths")
    stacked = np.stack(vectors)
    if not np.isfinite(stacked).all():
        raise NotJSONError("a vector that is not a list of numbers")
    return stacked


def read_int8s(rows: Any, count: int, dimensions: int) -> Int8s:
    """Read `count` vectors of integers from -128 to 127. Raises NotJSONError."""
    found = read_matrix(rows, count, dimensions)
    if (found != np.rint(found)).any() or found.min() < -128 or found.max() > 127:
        raise NotJSONError("a vector that is not a list of 8-bit integers")
    return found.astype(np.int8)


def normalised(vectors: Matrix) -> Floats:
    """Return vectors of length 1 in single precision. Raises NotJSONError if one has length 0."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    if not (lengths > 0).all():
        raise NotJSONError("a vector of length 0")
    off = np.abs(lengths - 1) > UNIT_TOLERANCE
    return np.where(off, vectors / lengths, vectors).astype(np.float32)


def decode_floats(value: Any) -> Floats:
    """Read base64 of little-endian float32. Raises NotJSONError."""
    data = _decoded(value)
    if len(data) % FLOAT_BYTES:
        raise NotJSONError("vectors that are not in single precision")
    return np.frombuffer(data, dtype="<f4")


def decode_matrices(values: Sequence[Any], counts: Sequence[int], dimensions: int) -> Floats:
    """Read base64 of row-major matrices of little-endian float32, with `counts` rows each, into one array. Raises
    NotJSONError."""
    found = np.empty((sum(counts), dimensions), dtype="<f4")
    first = 0
    for value, count in zip(values, counts, strict=True):
        data = _decoded(value)
        if len(data) != count * dimensions * FLOAT_BYTES:
            raise NotJSONError("a matrix whose size does not match its dimensions and offsets")
        found[first : first + count] = np.frombuffer(data, dtype="<f4").reshape(count, dimensions)
        first += count
    return found


def _decoded(value: Any) -> bytes:
    if not isinstance(value, str):
        raise NotJSONError("vectors that are not base64")
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError) as error:
        raise NotJSONError("vectors that are not base64") from error


def write_vector(vector: "npt.NDArray[Any]", *, as_base64: bool = False) -> orjson.Fragment:
    """Write one vector as a JSON array, or as the base64 of little-endian float32."""
    if as_base64:
        return orjson.Fragment(b'"%b"' % base64.b64encode(vector.astype("<f4").tobytes()))
    return orjson.Fragment(orjson.dumps(np.ascontiguousarray(vector), option=orjson.OPT_SERIALIZE_NUMPY))


def write_items(
    vectors: "Sequence[npt.NDArray[Any]]", *, as_base64: bool = False, first: int = 0
) -> list[dict[str, Any]]:
    """Write vectors as the vendor's list of embeddings, with indices from `first` on."""
    return [
        {"object": "embedding", "index": index, "embedding": write_vector(vector, as_base64=as_base64)}
        for index, vector in enumerate(vectors, first)
    ]


def written(items: list[dict[str, Any]]) -> orjson.Fragment:
    """Serialize a list. For a large one, call this outside the event loop; the answer around it is then cheap to serialize."""
    return orjson.Fragment(orjson.dumps(items))


def check_indices(items: Sequence[dict[str, Any]]) -> None:
    """Raise NotJSONError unless each index from 0 on occurs once, in any order."""
    indices = [item["index"] for item in items if type(item.get("index")) is int]
    if sorted(indices) != list(range(len(items))):
        raise NotJSONError("not exactly one item for each index")
