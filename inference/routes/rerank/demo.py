"""Reranking by the demo backend: by the words and word parts that a document shares with the query."""

import asyncio
import math

from inference.adapters.demo.endpoint import DemoEndpoint
from inference.adapters.demo.tokens import count_tokens
from inference.adapters.demo.vectors import vector_of
from inference.routes.rerank.bound import BoundedRerank
from inference.routes.rerank.results import answer_of
from inference.rules.answer import Answer
from inference.rules.upstream import Attempt

DIMENSIONS = 256


class DemoRerank(DemoEndpoint[BoundedRerank]):
    """Scores each document by the cosine of its vector and the query's, from 0 to 1."""

    async def answer(self, attempt: Attempt[BoundedRerank]) -> Answer:
        """Score every document. The loop breathes between them: a large request must not hold up other calls."""
        asked = attempt.request.asked
        query = vector_of(asked.query, DIMENSIONS)
        scores: dict[int, float] = {}
        for index, document in enumerate(asked.documents):
            scores[index] = _score(query, vector_of(document, DIMENSIONS))
            await asyncio.sleep(0)
        best = sorted(scores, key=lambda index: scores[index], reverse=True)[: asked.results]
        tokens = sum(map(count_tokens, asked.documents)) + count_tokens(asked.query) * len(asked.documents)
        body = answer_of(attempt, {index: scores[index] for index in best}, tokens)
        return Answer(body, body["usage"])


def _score(query: list[float], document: list[float]) -> float:
    cosine = math.fsum(one * other for one, other in zip(query, document, strict=True))
    return round(min(max(cosine, 0.0), 1.0), 6)
