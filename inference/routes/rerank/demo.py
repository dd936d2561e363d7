"""Reranking by the demo backend: by the words and word parts that a document shares with the query, or by the local model."""

import asyncio
import math
from dataclasses import dataclass

from inference.adapters.demo.endpoint import DemoEndpoint
from inference.adapters.demo.tokens import count_tokens
from inference.adapters.demo.vectors import vector_of
from inference.adapters.local_model import serving
from inference.routes.rerank.bound import BoundedRerank
from inference.routes.rerank.request import RerankRequest
from inference.routes.rerank.results import answer_of
from inference.rules.answer import Answer
from inference.rules.upstream import Attempt

DIMENSIONS = 256


@dataclass(frozen=True, slots=True)
class Compared:
    """The cosine of each document with the query, and the tokens of all pairs."""

    cosines: list[float]
    tokens: int


class DemoRerank(DemoEndpoint[BoundedRerank]):
    """Scores each document by the cosine of its vector and the query's, from 0 to 1."""

    async def answer(self, attempt: Attempt[BoundedRerank]) -> Answer:
        """Score every document. Raises what the local model raises."""
        asked = attempt.request.asked
        compared = await (_by_model(asked) if serving.is_on() else _hashed(asked))
        scores = [_score(cosine) for cosine in compared.cosines]
        best = sorted(range(len(scores)), key=lambda index: scores[index], reverse=True)[: asked.results]
        body = answer_of(attempt, {index: scores[index] for index in best}, compared.tokens)
        return Answer(body, body["usage"])


async def _hashed(asked: RerankRequest) -> Compared:
    """Compare without a model. The loop breathes between documents: a large request must not hold up other calls."""
    query, cosines = vector_of(asked.query, DIMENSIONS), list[float]()
    for document in asked.documents:
        vector = vector_of(document, DIMENSIONS)
        cosines.append(math.fsum(one * other for one, other in zip(query, vector, strict=True)))
        await asyncio.sleep(0)
    tokens = sum(map(count_tokens, asked.documents)) + count_tokens(asked.query) * len(asked.documents)
    return Compared(cosines, tokens)


async def _by_model(asked: RerankRequest) -> Compared:
    found = await serving.similarities(asked.query, asked.documents, truncation=asked.truncation)
    query, *documents = found.tokens
    return Compared(found.cosines, sum(documents) + query * len(documents))


def _score(cosine: float) -> float:
    return round(min(max(cosine, 0.0), 1.0), 6)
