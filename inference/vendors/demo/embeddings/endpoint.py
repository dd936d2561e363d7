"""Embeddings of the demo backend: hashed character n-grams, so that texts with common words have similar vectors, or
the local model's."""

import base64
from typing import Any

from inference.interface.answer import Answer
from inference.interface.upstream import Attempt
from inference.routes.embeddings.bound import BoundedEmbeddings, BoundedRepresented
from inference.routes.embeddings.capabilities import Capabilities, Representations
from inference.vendors.demo.embeddings.represented import represent
from inference.vendors.demo.endpoint import DemoEndpoint
from inference.vendors.demo.representations import embed
from inference.vendors.demo.vectors import little_endian


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
