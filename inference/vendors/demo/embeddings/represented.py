"""Representations of the demo: texts as for its other embeddings, images by a hash of their bytes."""

import asyncio
import base64
from typing import Any

import numpy as np

from gateway.core.contract.errors import ImagesUnsupported
from gateway.core.runtime.offload import offload
from inference.adapters.representation import vectors
from inference.adapters.representation.answers import representation_answer
from inference.interface.answer import Answer
from inference.interface.upstream import Attempt
from inference.routes.embeddings.bound import BoundedRepresented
from inference.routes.embeddings.items import Input, images_of, texts_of
from inference.vendors.demo.representations import DIMENSIONS, DIMENSIONS_MAX, HASHED, Embedded, embed, within
from inference.vendors.demo.tokens import IMAGE_TOKENS, count_tokens
from inference.vendors.demo.vectors import vector_of

IMAGE_MODEL = "demo-embedding-image"
IMAGE_SAMPLE_BYTES = 4096


async def represent(attempt: Attempt[Any], request: BoundedRepresented) -> Answer:
    """Embed the inputs. Raises ImagesUnsupported, or as `embed`."""
    inputs, dimensions = request.params.inputs, request.params.dimensions
    if attempt.upstream_model == IMAGE_MODEL:
        embedded = await _embed_hashed(inputs, dimensions)
    elif image := next(images_of(inputs), None):
        raise ImagesUnsupported(param=f"input.{image.index}")
    else:
        embedded = await embed(list(texts_of(inputs)), dimensions)
    data = await offload(_written, embedded, request.params.as_base64)
    return representation_answer(attempt, embedded.facts, data, {"input_tokens": embedded.tokens})


def _written(embedded: Embedded, as_base64: bool) -> Any:
    return vectors.written(vectors.write_items(embedded.vectors, as_base64=as_base64))


async def _embed_hashed(inputs: tuple[Input, ...], dimensions: int | None) -> Embedded:
    """Embed images by their bytes: only identical images have similar vectors."""
    wanted = within(dimensions or DIMENSIONS, DIMENSIONS_MAX)
    found, tokens = [], 0
    for item in inputs:
        text = item if isinstance(item, str) else base64.b64decode(item.base64)[:IMAGE_SAMPLE_BYTES].hex()
        found.append(np.array(vector_of(text, wanted), dtype=np.float32))
        tokens += count_tokens(item) if isinstance(item, str) else IMAGE_TOKENS
        await asyncio.sleep(0)
    return Embedded(found, tokens, HASHED)
