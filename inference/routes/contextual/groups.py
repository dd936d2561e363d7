"""Groups the vectors of chunks by document, as in the response."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from gateway.core.runtime.deferred import numpy as np
from inference.adapters.representation import vectors
from inference.adapters.representation.batches import in_batches
from inference.routes.contextual.request import ContextualRequest

if TYPE_CHECKING:
    import numpy.typing as npt

Group = tuple[str, ...]


def group_batches(groups: Sequence[Group]) -> Iterator[list[Group]]:
    """Split documents into upstream calls, each document whole, because its chunks are embedded together."""
    sizes = [(sum(len(chunk.encode()) for chunk in group), len(group)) for group in groups]
    return in_batches(groups, sizes)


def read_vectors(params: ContextualRequest, rows: Any, count: int) -> "npt.NDArray[Any]":
    """Read the vectors of `count` chunks: 8-bit numbers, or floats, which are normalized. Raises NotJSONError."""
    if params.quantization == "int8":
        return vectors.read_int8s(rows, count, params.dimensions)
    return vectors.normalised(vectors.read_matrix(rows, count, params.dimensions))


def write_groups(groups: "Sequence[npt.NDArray[Any]]", first: int = 0) -> list[dict[str, Any]]:
    """Render documents' vectors, one matrix each, as nested lists with indices that start at `first`."""
    return [
        {"object": "list", "index": index, "data": vectors.write_items(list(np.atleast_2d(group)))}
        for index, group in enumerate(groups, first)
    ]
