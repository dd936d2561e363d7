"""Embeddings of the demo backend: hashed character n-grams, so that texts with common words have similar vectors, or
the local model's."""

import asyncio
import base64
from typing import Any

from gateway.core.contract.errors import ImagesUnsupported
from gateway.core.runtime.deferred import numpy as np
from gateway.core.runtime.offload import offload
from inference.adapters.representation import vectors
from inference.adapters.representation.answers import representation_answer
from inference.interface.answer import Answer
from inference.interface.upstream import Attempt
from inference.routes.embeddings.bound import BoundedEmbeddings, BoundedRepresented
from inference.routes.embeddings.capabilities import Capabilities, Representations
from inference.routes.embeddings.items import Input, images_of, texts_of
from inference.vendors.demo.endpoint import DemoEndpoint
from inference.vendors.demo.representations import DIMENSIONS, DIMENSIONS_MAX, HASHED, Embedded, embed, within
from inference.vendors.demo.tokens import IMAGE_TOKENS, count_tokens
from inference.vendors.demo.vectors import little_endian, vector_of


class DemoEmbeddings(DemoEndpoint[Any]):
    """Embeds texts, and lists of token numbers, which are treated as words."""

    capabilities = Capabilities(representations=Representations.IF_SELECTED, requires_input_type=False)

    async def answer(self, attempt: Attempt[BoundedEmbeddings | BoundedRepresented]) -> Answer:
        request = attempt.request
        if isinstance(request, BoundedRepresented):
            return await represent(attempt, request)
        return await _plain(attempt, request)


async def _plain(attempt: Attempt[Any], request: BoundedEmbeddings) -> Answer:
    texts = [_text(item) for item in request.params.inputs]
    embedded = await embed(texts, _dimensions(attempt, request))
    as_base64 = request.body.get("encoding_format") == "base64"
    data = [
        {"object": "embedding", "index": index, "embedding": _encoded(vector.tolist(), as_base64)}
        for index, vector in enumerate(embedded.vectors)
    ]
    usage = {"prompt_tokens": embedded.tokens, "total_tokens": embedded.tokens}
    return Answer({"object": "list", "data": data, "model": attempt.call.public_model, "usage": usage}, usage)


def _text(item: Any) -> str:
    return " ".join(map(str, item)) if isinstance(item, list) else str(item)


def _dimensions(attempt: Attempt[Any], request: BoundedEmbeddings) -> int | None:
    wanted = request.body.get("dimensions", attempt.target.options.get("dimensions"))
    return wanted if isinstance(wanted, int) else None


def _encoded(vector: list[float], as_base64: bool) -> list[float] | str:
    return base64.b64encode(little_endian(vector)).decode() if as_base64 else vector


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
