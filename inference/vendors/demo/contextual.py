"""Contextual embeddings of the demo: a chunk's vector is shifted towards its document's mean."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gateway.core.runtime.deferred import numpy as np
from gateway.core.runtime.offload import offload
from inference.adapters.representation.answers import Facts, representation_answer
from inference.adapters.representation.vectors import written
from inference.interface.answer import Answer
from inference.interface.upstream import Attempt
from inference.routes.contextual.bound import BoundedContextual
from inference.routes.contextual.groups import write_groups
from inference.vendors.demo.endpoint import DemoEndpoint
from inference.vendors.demo.local_model import serving
from inference.vendors.demo.representations import Floats, embed

if TYPE_CHECKING:
    import numpy.typing as npt

CONTEXT_SHARE = 0.25
"""The weight of the document's mean in a chunk's vector."""
INT8_SCALE = 127


class DemoContextual(DemoEndpoint[BoundedContextual]):
    """Embeds chunks and queries. The local model has fewer dimensions, so its vectors are padded with zeros."""

    async def answer(self, attempt: Attempt[BoundedContextual]) -> Answer:
        params = attempt.request.params
        texts = [chunk for group in params.groups for chunk in group]
        path = "queries" if params.are_queries else "documents"
        embedded = await embed(texts, None if serving.is_enabled() else params.dimensions, path)
        groups = _grouped(embedded.vectors, [len(group) for group in params.groups])
        widened = [_widened(_in_context(group), params.dimensions) for group in groups]
        found = [_quantized(group) for group in widened] if params.quantization == "int8" else widened
        facts = Facts(embedded.revision, params.dimensions, normalized=True).as_contextual(params.quantization)
        data = await offload(lambda: written(write_groups(found)))
        return representation_answer(attempt, facts, data, {"input_tokens": embedded.tokens})


def _grouped(vectors: Sequence[Floats], counts: Sequence[int]) -> list[Floats]:
    ends = np.cumsum(counts)
    return np.split(np.stack(vectors), ends[:-1])


def _in_context(group: Floats) -> Floats:
    """Add a share of their mean to the vectors of chunks, and normalize them; a single one is unchanged."""
    mixed = group * (1 - CONTEXT_SHARE) + group.mean(axis=0) * CONTEXT_SHARE
    lengths = np.linalg.norm(mixed, axis=1, keepdims=True)
    result: Floats = np.where(lengths > 0, mixed / np.maximum(lengths, np.float32(1e-12)), group)
    return result


def _widened(group: Floats, dimensions: int) -> Floats:
    return np.pad(group, ((0, 0), (0, dimensions - group.shape[1])))


def _quantized(group: Floats) -> "npt.NDArray[np.int8]":
    return np.rint(group * INT8_SCALE).astype(np.int8)
