"""Contextual embeddings at the vendor Voyage."""

from typing import Any

from gateway.core.runtime.offload import offload
from inference.adapters.representation import vectors
from inference.adapters.representation.answers import Facts, representation_answer
from inference.adapters.representation.conversation import Conversation, ConversingEndpoint
from inference.interface.answer import Answer
from inference.interface.upstream import Attempt
from inference.routes.contextual.bound import BoundedContextual
from inference.routes.contextual.groups import Group, group_batches, read_vectors, write_groups
from inference.routes.contextual.request import ContextualRequest
from inference.vendors.voyage.answers import count_usage, read_list


class VoyageContextual(ConversingEndpoint[BoundedContextual]):
    """`POST /contextualizedembeddings`. The vendor's model names serve as revisions."""

    async def converse(self, attempt: Attempt[BoundedContextual], conversation: Conversation) -> Answer:
        """Embed documents or queries in as many calls as needed."""
        request = attempt.request
        params, items = request.params, list[dict[str, Any]]()
        for groups in group_batches(params.groups):
            body = {"model": attempt.upstream_model, **_body(params, groups)}
            answer = await conversation.ask("/contextualizedembeddings", body, is_large=request.is_large)
            count_usage(conversation, answer)
            items += await offload(_read, params, answer, groups, len(items))
        facts = Facts(request.representation.revision or attempt.upstream_model, params.dimensions, normalized=True)
        data = await offload(vectors.written, items)
        return representation_answer(attempt, facts.as_contextual(params.quantization), data, conversation.usage)


def _body(params: ContextualRequest, groups: list[Group]) -> dict[str, Any]:
    return {
        "inputs": [list(group) for group in groups],
        "input_type": params.input_type,
        "output_dimension": params.dimensions,
        "output_dtype": params.quantization,
    }


def _read(params: ContextualRequest, answer: dict[str, Any], groups: list[Group], first: int) -> list[dict[str, Any]]:
    found = []
    for document, group in zip(read_list(answer, len(groups)), groups, strict=True):
        chunks = read_list(document, len(group))
        found.append(read_vectors(params, [chunk.get("embedding") for chunk in chunks], len(group)))
    return write_groups(found, first)
