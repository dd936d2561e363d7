"""Reranking by the demo backend: by the words and word parts that document and query share, or by the local model."""

import asyncio
import math

from inference.interface.answer import Answer
from inference.interface.upstream import Attempt
from inference.routes.rerank.bound import BoundedRerank
from inference.routes.rerank.limits import Limits
from inference.routes.rerank.request import RerankRequest
from inference.routes.rerank.results import answer_of
from inference.vendors.demo.endpoint import DemoEndpoint
from inference.vendors.demo.local_model import serving
from inference.vendors.demo.local_model.serving import Similarities
from inference.vendors.demo.tokens import count_tokens
from inference.vendors.demo.vectors import vector_of

DIMENSIONS = 256


class DemoRerank(DemoEndpoint[BoundedRerank]):
    """Scores each document by its vector's cosine similarity with the query's, from 0 to 1."""

    limits = Limits(documents=1000, query_tokens=8_000, pair_tokens=32_000, total_tokens=600_000, truncates=True)

    async def answer(self, attempt: Attempt[BoundedRerank]) -> Answer:
        """Score every document. Raises what the local model raises."""
        params = attempt.request.params
        if serving.is_enabled():
            compared = await serving.similarities(params.query, params.documents, truncation=params.truncation)
        else:
            compared = await _hashed(params)
        query_tokens, *document_tokens = compared.tokens
        scores = [_score(cosine) for cosine in compared.cosines]
        best = sorted(range(len(scores)), key=lambda index: scores[index], reverse=True)[: params.results]
        tokens = sum(document_tokens) + query_tokens * len(document_tokens)
        body = answer_of(attempt, {index: scores[index] for index in best}, tokens)
        return Answer(body, body["usage"])


async def _hashed(params: RerankRequest) -> Similarities:
    """Compare without a model. Yields to the event loop between documents, so that large requests do not delay
    others."""
    query, cosines = vector_of(params.query, DIMENSIONS), list[float]()
    for document in params.documents:
        vector = vector_of(document, DIMENSIONS)
        cosines.append(math.fsum(one * other for one, other in zip(query, vector, strict=True)))
        await asyncio.sleep(0)
    return Similarities(cosines, [count_tokens(text) for text in (params.query, *params.documents)])


def _score(cosine: float) -> float:
    return round(min(max(cosine, 0.0), 1.0), 6)
