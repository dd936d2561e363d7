"""Late interaction over the token matrices of upstreams with the gateway's own protocol."""

from collections.abc import Sequence
from typing import Any

from gateway.core.runtime.offload import offload
from inference.adapters.exchange import ANSWER_MAX_BYTES, NotJSONError
from inference.adapters.representation.answers import representation_answer
from inference.adapters.representation.batches import CALL_MAX_BYTES, in_batches
from inference.adapters.representation.conversation import Conversation
from inference.adapters.representation.vectors import decode_matrices
from inference.interface.answer import Answer
from inference.interface.upstream import Attempt
from inference.routes.late_interaction.bound import BoundedLateInteraction
from inference.routes.late_interaction.request import Document
from inference.routes.late_interaction.scoring import Scored, Tokens, empty, ranked, score
from inference.rules.representation import input_bound
from inference.vendors.representation.protocol import Pinned, RepresentationEndpoint

VALUE_BYTES = 6
"""The base64 size of one matrix value, plus a share of the offsets."""


class RepresentationLateInteraction(RepresentationEndpoint[BoundedLateInteraction]):
    """`POST /multivector`. The matrices of one call are released before those of the next are requested."""

    async def converse(self, attempt: Attempt[BoundedLateInteraction], conversation: Conversation) -> Answer:
        """Request the matrices of the query and the documents in as many calls as needed, at one revision."""
        params, calls = attempt.request.params, self.pinned(attempt, conversation)
        query = (await _tokens(calls, [params.query], "query")).vectors
        assert calls.facts is not None, "stated by every response"
        scored: dict[str, Scored] = {document.id: empty(document) for document in params.documents}
        for documents in _in_batches(params.documents, calls.facts.dimensions):
            tokens = await _tokens(calls, [document.text for document in documents], "document")
            found = await offload(score, query, documents, tokens, params.top_spans)
            scored |= {one.id: one for one in found}
        data = await offload(ranked, list(scored.values()))
        return representation_answer(attempt, calls.facts, data, conversation.usage)


def _in_batches(documents: Sequence[Document], dimensions: int) -> Any:
    """Split non-empty documents into calls whose responses are readable even if every byte is a token."""
    texts = [document for document in documents if document.text]
    sizes = [(len(document.text.encode()), 1) for document in texts]
    most = min(CALL_MAX_BYTES, ANSWER_MAX_BYTES // (dimensions * VALUE_BYTES))
    return in_batches(texts, sizes, max_bytes=most)


async def _tokens(calls: Pinned, texts: list[str], input_type: str) -> Tokens:
    body = {"input": texts, "input_type": input_type, "encoding_format": "base64"}
    answer = await calls.ask("/multivector", body)
    assert calls.facts is not None, "stated by every response"
    return await offload(_read, answer, texts, calls.facts.dimensions)


def _read(answer: dict[str, Any], texts: list[str], dimensions: int) -> Tokens:
    items = answer.pop("items", None)
    if not isinstance(items, list) or len(items) != len(texts) or not all(isinstance(item, dict) for item in items):
        raise NotJSONError("not exactly one matrix for each text")
    offsets = [_offsets(item.get("offsets"), text) for item, text in zip(items, texts, strict=True)]
    vectors = decode_matrices([item.get("vectors") for item in items], [len(pairs) for pairs in offsets], dimensions)
    return Tokens(vectors, offsets)


def _offsets(pairs: Any, text: str) -> list[tuple[int, int]]:
    """Read the tokens' offsets; there can be no more of them than the hold covers."""
    if not isinstance(pairs, list) or len(pairs) > input_bound(len(text.encode()), 1):
        raise NotJSONError("offsets that are not a list, or more tokens than the text can have")
    return [_pair(pair, len(text)) for pair in pairs]


def _pair(pair: Any, characters: int) -> tuple[int, int]:
    if not (isinstance(pair, list) and len(pair) == 2 and all(type(at) is int for at in pair)):
        raise NotJSONError("offsets that are not a pair of numbers")
    start, end = pair
    if not 0 <= start <= end <= characters:
        raise NotJSONError("offsets that lie outside the text")
    return start, end
