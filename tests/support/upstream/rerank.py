"""Reranking in the formats of Voyage AI and Cohere, scored by the words that document and query share."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from tests.support.upstream.behaviours import Behaviour
from tests.support.upstream.tokens import count_text
from tests.support.upstream.usage import ABSENT, Infinite, report

VOYAGE, COHERE = "/rerank", "/v2/rerank"
Results: TypeAlias = list[dict[str, Any]]

SPOILED: Mapping[str, Callable[[Results], Any]] = {
    "": lambda results: results,
    "boolean_index": lambda results: [{**results[0], "index": True}, *results[1:]],
    "every_document": lambda results: results,
    "few": lambda results: results[1:],
    "huge_index": lambda results: [{**results[0], "index": 10**6}, *results[1:]],
    "infinite_score": lambda results: [{**results[0], "relevance_score": Infinite("inf")}, *results[1:]],
    "many": lambda results: [*results, {**results[0], "index": len(results)}],
    "negative_index": lambda results: [{**results[0], "index": -1}, *results[1:]],
    "no_index": lambda results: [{"relevance_score": 0.5}, *results[1:]],
    "no_score": lambda results: [{"index": results[0]["index"]}, *results[1:]],
    "none": lambda results: None,
    "object": lambda results: {"0": results[0]},
    "text": lambda results: ["best", *results[1:]],
    "text_score": lambda results: [{**results[0], "relevance_score": "0.9"}, *results[1:]],
    "twice": lambda results: [results[0], *results[:-1]],
    "worst_first": lambda results: results[::-1],
}
"""The effects of `Behaviour.shape` on the results; worst_first is still an honest response, and every_document ignores how many
results were requested."""


def count_pairs(body: Mapping[str, Any]) -> int:
    """Count the tokens of every document, with the query once for each."""
    documents = body["documents"]
    return sum(map(count_text, documents)) + count_text(body["query"]) * len(documents)


def render(path: str, entry_id: str, body: Mapping[str, Any], behaviour: Behaviour) -> Any:
    """Build a complete response in the format of the path's vendor."""
    render_one = _voyage if path == VOYAGE else _cohere
    return render_one(entry_id, body, behaviour)


def error_body(path: str, message: str) -> dict[str, Any]:
    """Build an error in the vendor's format."""
    return {"detail": message} if path == VOYAGE else {"id": "upstream-error", "message": message}


def score(query: str, document: str) -> float:
    """Score a document from 0 to 1."""
    words, wanted = set(document.lower().split()), set(query.lower().split())
    return round(len(words & wanted) / (len(wanted) + 1), 6)


def _voyage(entry_id: str, body: Mapping[str, Any], behaviour: Behaviour) -> Any:
    answer = {"object": "list", "data": _results(body, body.get("top_k"), behaviour), "model": body["model"]}
    usage = report({"total_tokens": count_pairs(body)}, behaviour.usage)
    return answer if usage is ABSENT else {**answer, "usage": usage}


def _cohere(entry_id: str, body: Mapping[str, Any], behaviour: Behaviour) -> Any:
    meta = {"api_version": {"version": "2"}, "billed_units": {"search_units": 1}}
    return {"id": entry_id, "results": _results(body, body.get("top_n"), behaviour), "meta": meta}


def _results(body: Mapping[str, Any], top: int | None, behaviour: Behaviour) -> Any:
    scores = [score(body["query"], document) for document in body["documents"]]
    top = None if behaviour.shape == "every_document" else top
    best = sorted(range(len(scores)), key=lambda index: -scores[index])[: top or len(scores)]
    return SPOILED[behaviour.shape]([{"index": index, "relevance_score": scores[index]} for index in best])


__all__ = ["COHERE", "SPOILED", "VOYAGE", "count_pairs", "error_body", "render", "score"]
