"""Embeddings at the vendor Voyage: texts on one of its routes, images and mixed input on another."""

from typing import Any

from gateway.core.runtime.deferred import numpy as np
from gateway.core.runtime.offload import offload
from inference.adapters.exchange import NotJSONError
from inference.adapters.representation import vectors
from inference.adapters.representation.answers import Facts, representation_answer
from inference.adapters.representation.batches import in_batches
from inference.adapters.representation.conversation import Conversation, ConversingEndpoint
from inference.interface.answer import Answer
from inference.interface.upstream import Attempt
from inference.routes.embeddings.bound import BoundedRepresented
from inference.routes.embeddings.capabilities import Capabilities, Representations
from inference.routes.embeddings.items import Input, images_of, sizes_of
from inference.vendors.voyage.answers import count_usage, read_list

MULTIMODAL = "multimodal"
"""The marker in the names of models that embed images; their texts use the same route."""


class VoyageEmbeddings(ConversingEndpoint[BoundedRepresented]):
    """`POST /embeddings`, and `POST /multimodalembeddings`. The vendor's model names serve as revisions, and its
    vectors are normalized."""

    capabilities = Capabilities(representations=Representations.ALWAYS, requires_input_type=False)

    async def converse(self, attempt: Attempt[BoundedRepresented], conversation: Conversation) -> Answer:
        """Embed the inputs in as many calls as needed."""
        request = attempt.request
        params, found = request.params, list[Any]()
        is_multimodal = MULTIMODAL in attempt.upstream_model or any(images_of(params.inputs))
        path, body_of = ("/multimodalembeddings", _multimodal) if is_multimodal else ("/embeddings", _plain)
        for inputs in in_batches(params.inputs, sizes_of(params.inputs)):
            body = {"model": attempt.upstream_model, **body_of(inputs), **_shared(request)}
            answer = await conversation.ask(path, body, is_large=request.is_large)
            count_usage(conversation, answer)
            found += await offload(_read, answer, len(inputs))
        matrix = await offload(vectors.as_matrix, found)
        facts = Facts(request.representation.revision or attempt.upstream_model, matrix.shape[1], normalized=True)
        items = await offload(_written, matrix, params.as_base64)
        return representation_answer(attempt, facts, items, conversation.usage)


def _plain(inputs: list[Input]) -> dict[str, Any]:
    return {"input": inputs, "encoding_format": "base64"}


def _multimodal(inputs: list[Input]) -> dict[str, Any]:
    return {"inputs": [{"content": [_part(item)]} for item in inputs]}


def _part(item: Input) -> dict[str, Any]:
    if isinstance(item, str):
        return {"type": "text", "text": item}
    return {"type": "image_base64", "image_base64": item.url}


def _shared(request: BoundedRepresented) -> dict[str, Any]:
    dimensions = request.params.dimensions
    sent: dict[str, Any] = {"input_type": request.input_type, "truncation": request.params.truncation}
    return sent if dimensions is None else {**sent, "output_dimension": dimensions}


def _read(answer: dict[str, Any], count: int) -> list[Any]:
    return [_vector(item.get("embedding")) for item in read_list(answer, count)]


def _vector(sent: Any) -> Any:
    if isinstance(sent, str):
        return vectors.decode_floats(sent)
    if not isinstance(sent, list):
        raise NotJSONError("an item without a vector")
    return vectors.read_matrix([sent], 1)[0]


def _written(matrix: "np.ndarray[Any, Any]", as_base64: bool) -> Any:
    return vectors.written(vectors.write_items(list(matrix), as_base64=as_base64))
