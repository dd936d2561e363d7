"""Late interaction of the demo: a vector of hashed character n-grams per word, or the local model's per token."""

import asyncio
import re
from collections.abc import Sequence

from gateway.core.runtime.deferred import numpy as np
from gateway.core.runtime.offload import offload
from inference.adapters.representation.answers import Facts, representation_answer
from inference.interface.answer import Answer
from inference.interface.upstream import Attempt
from inference.routes.late_interaction.bound import BoundedLateInteraction
from inference.routes.late_interaction.scoring import Tokens, ranked, score
from inference.vendors.demo.endpoint import DemoEndpoint
from inference.vendors.demo.local_model import serving
from inference.vendors.demo.representations import HASHED
from inference.vendors.demo.tokens import count_tokens
from inference.vendors.demo.vectors import vector_of

DIMENSIONS = 128
_WORD = re.compile(r"\w+|[^\w\s]")


class DemoLateInteraction(DemoEndpoint[BoundedLateInteraction]):
    """Scores documents by their words."""

    async def answer(self, attempt: Attempt[BoundedLateInteraction]) -> Answer:
        """Score the documents. Raises what the local model raises."""
        params = attempt.request.params
        texts = [params.query, *(document.text for document in params.documents)]
        read = _by_model if serving.is_enabled() else _hashed
        tokens, facts, count = await read(texts)
        query_count = len(tokens.offsets[0])
        rest = Tokens(tokens.vectors[query_count:], tokens.offsets[1:])
        scored = await offload(score, tokens.vectors[:query_count], params.documents, rest, params.top_spans)
        data = await offload(ranked, scored)
        return representation_answer(attempt, facts, data, {"input_tokens": count})


async def _hashed(texts: Sequence[str]) -> tuple[Tokens, Facts, int]:
    rows: list[list[float]] = []
    offsets = []
    for text in texts:
        spans = [match.span() for match in _WORD.finditer(text)]
        rows += [vector_of(text[start:end], DIMENSIONS) for start, end in spans]
        offsets.append(spans)
        await asyncio.sleep(0)  # many documents must not delay other calls
    vectors = np.array(rows, dtype=np.float32).reshape(-1, DIMENSIONS)
    return Tokens(vectors, offsets), Facts(HASHED, DIMENSIONS, normalized=True), sum(map(count_tokens, texts))


async def _by_model(texts: Sequence[str]) -> tuple[Tokens, Facts, int]:
    """Return the local model's tokens of the texts, without its start and end markers."""
    found = await serving.tokens_of(texts, "documents")
    matrices = await serving.token_vectors_of(found)
    vectors = np.concatenate([matrix[1:-1] for matrix in matrices])
    tokens = Tokens(vectors, [one.offsets[1:-1] for one in found])
    facts = Facts(serving.NAME, serving.DIMENSIONS, normalized=True)
    return tokens, facts, sum(len(one.numbers) for one in found)
