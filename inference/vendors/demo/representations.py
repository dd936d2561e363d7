"""Computes the demo's vectors: from hashed character n-grams, or by the local model if the setting enables it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from gateway.core.contract.errors import InvalidRequest
from gateway.core.runtime.deferred import numpy as np
from inference.adapters.representation.answers import Facts
from inference.vendors.demo.local_model import serving
from inference.vendors.demo.tokens import count_tokens
from inference.vendors.demo.vectors import vector_of

if TYPE_CHECKING:
    import numpy.typing as npt

Floats: TypeAlias = "npt.NDArray[np.float32]"

DIMENSIONS = 256
DIMENSIONS_MAX = 3072
INPUT_MAX_TOKENS = 8192
HASHED = "hashed-ngrams-1"
"""The revision of vectors that no model computed."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """Vectors of length 1, one for each text, with the total number of tokens and the revision of their source."""

    vectors: list[Floats]
    tokens: int
    revision: str

    @property
    def facts(self) -> Facts:
        """Return the facts that an upstream would report about the vectors."""
        return Facts(self.revision, len(self.vectors[0]), normalized=True)


async def embed(texts: Sequence[str], dimensions: int | None, path: str = "input") -> Embedded:
    """Embed texts in `dimensions`, or in the default number of dimensions. Raises InvalidRequest, or what the local model
    raises; `path` is the request's member with the texts."""
    if serving.is_enabled():
        return await _by_model(texts, dimensions, path)
    wanted = within(dimensions or DIMENSIONS, DIMENSIONS_MAX)
    counts = [_checked_count(text, index, path) for index, text in enumerate(texts)]
    vectors = []
    for text in texts:
        vectors.append(np.array(vector_of(text, wanted), dtype=np.float32))
        await asyncio.sleep(0)  # a large batch must not delay other calls
    return Embedded(vectors, sum(counts), HASHED)


def within(dimensions: int, most: int) -> int:
    """Return a number of dimensions. Raises InvalidRequest if it is out of range."""
    if not 1 <= dimensions <= most:
        raise InvalidRequest(f"dimensions must be 1 to {most}.", param="dimensions")
    return dimensions


async def _by_model(texts: Sequence[str], dimensions: int | None, path: str) -> Embedded:
    wanted = within(dimensions or serving.DIMENSIONS, serving.DIMENSIONS)
    tokens = await serving.tokens_of(texts, path)
    vectors = [_shortened(vector, wanted) for vector in await serving.vectors_of(tokens)]
    return Embedded(vectors, sum(len(at.numbers) for at in tokens), serving.NAME)


def _shortened(vector: Floats, dimensions: int) -> Floats:
    """Return a vector's first values, normalized to length 1."""
    head = vector[:dimensions]
    length = float(np.linalg.norm(head))
    return head / np.float32(length or 1)


def _checked_count(text: str, index: int, param: str) -> int:
    count = count_tokens(text)
    if count > INPUT_MAX_TOKENS:
        code = {"code": "context_length_exceeded"}
        raise InvalidRequest(f"Input {index} is longer than {INPUT_MAX_TOKENS} tokens.", param=param, details=code)
    return count
