"""Embeddings at upstreams with the gateway's own protocol."""

from typing import Any

from gateway.core.runtime.offload import offload
from inference.adapters.representation import vectors
from inference.adapters.representation.answers import representation_answer
from inference.adapters.representation.batches import in_batches
from inference.adapters.representation.conversation import Conversation
from inference.interface.answer import Answer
from inference.interface.upstream import Attempt
from inference.routes.embeddings.bound import BoundedRepresented
from inference.routes.embeddings.capabilities import Capabilities, Representations
from inference.routes.embeddings.items import Input, sizes_of
from inference.vendors.representation.protocol import RepresentationEndpoint


class RepresentationEmbeddings(RepresentationEndpoint[BoundedRepresented]):
    """`POST /embed`."""

    capabilities = Capabilities(representations=Representations.ALWAYS, requires_input_type=False)

    async def converse(self, attempt: Attempt[BoundedRepresented], conversation: Conversation) -> Answer:
        params, calls = attempt.request.params, self.pinned(attempt, conversation)
        items: list[dict[str, Any]] = []
        for inputs in in_batches(params.inputs, sizes_of(params.inputs)):
            answer = await calls.ask("/embed", _body(attempt, inputs))
            assert calls.facts is not None, "stated by every response"
            found = await offload(_read, answer, len(inputs), calls.facts.dimensions, params.as_base64, len(items))
            items += found
        assert calls.facts is not None, "there is at least one input"
        data = await offload(vectors.written, items)
        return representation_answer(attempt, calls.facts, data, conversation.usage)


def _body(attempt: Attempt[BoundedRepresented], inputs: list[Input]) -> dict[str, Any]:
    request = attempt.request
    dimensions = request.params.dimensions
    body: dict[str, Any] = {
        "input": [_part(item) for item in inputs],
        "input_type": request.input_type,
        "truncation": request.params.truncation,
    }
    return body if dimensions is None else {**body, "dimensions": dimensions}


def _part(item: Input) -> dict[str, Any]:
    if isinstance(item, str):
        return {"type": "text", "text": item}
    return {"type": "image", "media_type": item.media_type, "data": item.base64}


def _read(answer: dict[str, Any], count: int, dimensions: int, as_base64: bool, first: int) -> list[dict[str, Any]]:
    matrix = vectors.read_matrix(answer.get("embeddings"), count, dimensions)
    return vectors.write_items(list(matrix), as_base64=as_base64, first=first)
