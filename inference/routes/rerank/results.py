"""Rerank results: validated as received from a provider, and rendered for the client."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from inference.adapters.exchange import NotJSONError
from inference.interface.upstream import Attempt
from inference.routes.rerank.bound import BoundedRerank
from inference.routes.rerank.request import RerankRequest

Scores = Mapping[int, float]


def read_scores(sent: Any, params: RerankRequest) -> Scores:
    """Read the score of each result by its document's index, or raise NotJSONError.

    There must be at least as many results as requested, for different documents of the request, with finite scores.
    """
    if not isinstance(sent, list) or len(sent) < params.results:
        raise NotJSONError("not as many results as requested")
    scores: dict[int, float] = {}
    for result in sent:
        if not isinstance(result, dict):
            raise NotJSONError("a result that is not an object")
        index, score = result.get("index"), result.get("relevance_score")
        if type(index) is not int or not 0 <= index < len(params.documents) or index in scores:
            raise NotJSONError("a result of no document, or two of one")
        if not isinstance(score, int | float) or isinstance(score, bool) or not math.isfinite(score):
            raise NotJSONError("a result without a score")
        scores[index] = score
    return scores


def answer_of(attempt: Attempt[BoundedRerank], scores: Scores, total_tokens: Any) -> dict[str, Any]:
    """Build the response: the best results that were requested, best first. A provider may return more. `total_tokens` is its
    count, None if it states none."""
    params = attempt.request.params
    usage = {"input_bytes": params.bound.input_bytes}
    return {
        "id": attempt.call.public_id,
        "object": "list",
        "model": attempt.call.public_model,
        "results": list(_results(params, scores)),
        "usage": usage if total_tokens is None else {**usage, "total_tokens": total_tokens},
    }


def _results(params: RerankRequest, scores: Scores) -> Iterable[dict[str, Any]]:
    for index, score in sorted(scores.items(), key=lambda one: one[1], reverse=True)[: params.results]:
        result: dict[str, Any] = {"index": index, "relevance_score": score}
        yield {**result, "document": {"text": params.documents[index]}} if params.returns_documents else result
