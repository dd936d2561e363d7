"""Late interaction of the demo: a vector of hashed character n-grams for each word, or the local model's for each token."""

import asyncio
import re
from collections.abc import Sequence

import numpy as np

from gateway.core.api.offload import offload
from inference.adapters.demo.endpoint import DemoEndpoint
from inference.adapters.demo.representations import HASHED
from inference.adapters.demo.tokens import count_tokens
from inference.adapters.demo.vectors import vector_of
from inference.adapters.local_model import serving
from inference.adapters.representation.answers import represented
from inference.adapters.representation.facts import Facts
from inference.routes.late_interaction.bound import BoundedLateInteraction
from inference.routes.late_interaction.scoring import Tokens, ranked, score
from inference.rules.answer import Answer
from inference.rules.upstream import Attempt

DIMENSIONS = 128
_WORD = re.compile(r"\w+|[^\w\s]")


class DemoLateInteraction(DemoEndpoint[BoundedLateInteraction]):
    """Scores documents by their words."""

    async def answer(self, attempt: Attempt[BoundedLateInteraction]) -> Answer:
        """Score the documents. Raises what the local model raises."""
        asked = attempt.request.asked
        texts = [asked.query, *(document.text for document in asked.documents)]
        if serving.is_on():
            tokens, count = await _by_model(texts)
            facts = Facts(serving.NAME, serving.DIMENSIONS, normalized=True)
        else:
            tokens, count = await _hashed(texts), sum(map(count_tokens, texts))
            facts = Facts(HASHED, DIMENSIONS, normalized=True)
        scored = await offload(score, tokens[0], asked.documents, tokens[1:], asked.top_spans)
        return represented(attempt, facts, ranked(scored), {"input_tokens": count})


async def _hashed(texts: Sequence[str]) -> list[Tokens]:
    found = []
    for text in texts:
        spans = [match.span() for match in _WORD.finditer(text)]
        rows = [vector_of(text[start:end], DIMENSIONS) for start, end in spans]
        found.append(Tokens(np.array(rows, dtype=np.float32).reshape(-1, DIMENSIONS), spans))
        await asyncio.sleep(0)  # many documents must not hold up other calls
    return found


async def _by_model(texts: Sequence[str]) -> tuple[list[Tokens], int]:
    """Return what the model says of each text, without its marks of beginning and end, and how many tokens it read."""
    tokens = await serving.tokens_of(texts, "documents")
    matrices = await serving.token_vectors_of(tokens)
    found = [Tokens(matrix[1:-1], token.offsets[1:-1]) for matrix, token in zip(matrices, tokens, strict=True)]
    return found, sum(len(token.numbers) for token in tokens)
