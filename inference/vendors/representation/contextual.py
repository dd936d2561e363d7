"""Contextual embeddings at upstreams with the gateway's own protocol."""

from typing import Any

from gateway.core.runtime.offload import offload
from inference.adapters.exchange import NotJSONError
from inference.adapters.representation import vectors
from inference.adapters.representation.answers import representation_answer
from inference.adapters.representation.conversation import Conversation
from inference.interface.answer import Answer
from inference.interface.upstream import Attempt
from inference.routes.contextual.bound import BoundedContextual
from inference.routes.contextual.groups import Group, group_batches, read_vectors, write_groups
from inference.routes.contextual.request import ContextualRequest
from inference.vendors.representation.protocol import RepresentationEndpoint


class RepresentationContextual(RepresentationEndpoint[BoundedContextual]):
    """`POST /embed/contextual`."""

    async def converse(self, attempt: Attempt[BoundedContextual], conversation: Conversation) -> Answer:
        params, calls = attempt.request.params, self.pinned(attempt, conversation)
        items: list[dict[str, Any]] = []
        for groups in group_batches(params.groups):
            answer = await calls.ask("/embed/contextual", _body(params, groups))
            if calls.facts is None or calls.facts.dimensions != params.dimensions:
                raise NotJSONError("vectors of other dimensions than requested")
            items += await offload(_read, params, answer, groups, len(items))
        assert calls.facts is not None, "there is at least one group"
        data = await offload(vectors.written, items)
        return representation_answer(attempt, calls.facts.as_contextual(params.quantization), data, conversation.usage)


def _body(params: ContextualRequest, groups: list[Group]) -> dict[str, Any]:
    sent: dict[str, Any] = {"documents": [list(group) for group in groups]}
    if params.are_queries:
        sent = {"queries": [query for group in groups for query in group]}
    return {
        "input_type": params.input_type,
        **sent,
        "dimensions": params.dimensions,
        "quantization": params.quantization,
    }


def _read(params: ContextualRequest, answer: dict[str, Any], groups: list[Group], first: int) -> list[dict[str, Any]]:
    rows = answer.get("embeddings")
    if params.are_queries:
        return write_groups(list(read_vectors(params, rows, len(groups))), first)
    if not isinstance(rows, list) or len(rows) != len(groups):
        raise NotJSONError("not exactly one list of vectors for each document")
    found = [read_vectors(params, row, len(group)) for row, group in zip(rows, groups, strict=True)]
    return write_groups(found, first)
