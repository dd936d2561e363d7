"""Embeddings at upstreams that speak the second version of Cohere's public API."""

from collections.abc import Mapping
from typing import Any

from gateway.core.runtime.offload import offload
from inference.adapters.exchange import NotJSONError, Refusal
from inference.adapters.representation import vectors
from inference.adapters.representation.answers import Facts, representation_answer
from inference.adapters.representation.batches import in_batches
from inference.adapters.representation.conversation import Conversation, ConversingEndpoint
from inference.interface.answer import Answer
from inference.interface.upstream import Attempt, Outcome
from inference.routes.embeddings.bound import BoundedRepresented
from inference.routes.embeddings.capabilities import Capabilities, Representations
from inference.routes.embeddings.items import Input, images_of, sizes_of
from inference.vendors.cohere.errors import with_common_status

PATH = "/v2/embed"
CALL_MAX_INPUTS = 96
INPUT_TYPES: Mapping[str | None, str] = {"query": "search_query", "document": "search_document"}


class CohereEmbeddings(ConversingEndpoint[BoundedRepresented]):
    """`POST /v2/embed`. The vendor's model names serve as revisions. The vendor does not state whether its vectors are
    normalized."""

    capabilities = Capabilities(representations=Representations.ALWAYS, requires_input_type=True)

    async def converse(self, attempt: Attempt[BoundedRepresented], conversation: Conversation) -> Answer:
        """Embed the inputs in as many calls as needed."""
        request = attempt.request
        params, found = request.params, list[Any]()
        for inputs in in_batches(params.inputs, sizes_of(params.inputs), max_inputs=CALL_MAX_INPUTS):
            body = {"model": attempt.upstream_model, **_sent(inputs), **_shared(request)}
            answer = await conversation.ask(PATH, body, is_large=request.is_large)
            conversation.count(_billed_tokens(answer, inputs))
            found += await offload(_read, answer, len(inputs))
        matrix = await offload(vectors.as_matrix, found)
        facts = Facts(request.representation.revision or attempt.upstream_model, matrix.shape[1], normalized=None)
        items = await offload(vectors.write_items, list(matrix), as_base64=params.as_base64)
        return representation_answer(attempt, facts, await offload(vectors.written, items), conversation.usage)

    def refused(self, attempt: Attempt[BoundedRepresented], refusal: Refusal) -> Outcome:
        """Map the vendor's own status to the common one."""
        return super().refused(attempt, with_common_status(refusal))


def _sent(inputs: list[Input]) -> dict[str, Any]:
    """Build inputs without images as texts, which every model of the vendor accepts; only newer ones accept mixed
    input."""
    if not any(images_of(inputs)):
        return {"texts": inputs}
    return {"inputs": [{"content": [_part(item)]} for item in inputs]}


def _part(item: Input) -> dict[str, Any]:
    if isinstance(item, str):
        return {"type": "text", "text": item}
    return {"type": "image_url", "image_url": {"url": item.url}}


def _shared(request: BoundedRepresented) -> dict[str, Any]:
    """Build the shared members. `truncate` is always sent, because the vendor's default is to truncate silently."""
    sent: dict[str, Any] = {
        "input_type": INPUT_TYPES[request.input_type],
        "embedding_types": ["float"],
        "truncate": "END" if request.params.truncation else "NONE",
    }
    dimensions = request.params.dimensions
    return sent if dimensions is None else {**sent, "output_dimension": dimensions}


def _read(answer: dict[str, Any], count: int) -> list[Any]:
    by_type = answer.get("embeddings")
    if not isinstance(by_type, Mapping):
        raise NotJSONError("embeddings are not an object")
    return list(vectors.read_matrix(by_type.get("float"), count))


def _billed_tokens(answer: dict[str, Any], inputs: list[Input]) -> Any:
    """Sum the tokens of texts and of images, which the vendor counts separately; None if a required count is
    missing."""
    meta = answer.get("meta") or {}
    billed = meta.get("billed_units") or {} if isinstance(meta, Mapping) else meta
    if not isinstance(billed, Mapping):
        raise NotJSONError("billed_units is not an object")
    images = sum(1 for _ in images_of(inputs))
    total = 0
    for name, is_due in (("input_tokens", images < len(inputs)), ("image_tokens", images > 0)):
        tokens = _whole(billed.get(name))
        if tokens is None and not is_due:
            continue
        if type(tokens) is not int or tokens < 0:
            return tokens
        total += tokens
    return total


def _whole(value: Any) -> Any:
    """Return a count as an integer; the vendor declares its counts as floating-point numbers."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
