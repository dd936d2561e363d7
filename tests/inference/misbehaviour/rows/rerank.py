"""Reranking at each of its providers."""

from typing import Any

from tests.inference.misbehaviour.row import Json, Row
from tests.support.upstream.behaviours import HOST

SCORES: list[Json] = [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}]
SHARED: dict[str, Any] = {
    "path": "/v1/rerank",
    "route": "rerank",
    "body": lambda alias: {"model": alias, "query": "badgers", "documents": ["Foxes run.", "Badgers dig."]},
    "price": {"input_kilobyte": "20", "input_token": "0.15"},
    "charge_microusd": 22,
}
"""A kilobyte that was begun and 12 tokens: 20 + 1.8 micro-USD, rounded up once."""

ROWS = [
    Row(
        "rerank at Voyage",
        adapter="voyage",
        answer={"object": "list", "data": SCORES, "model": HOST, "usage": {"total_tokens": 12}},
        **SHARED,
    ),
    Row(
        "rerank at Cohere",
        adapter="cohere",
        answer={"id": "upstream-1", "results": SCORES, "meta": {"tokens": {"input_tokens": 12}, "host": HOST}},
        usage=("meta", "tokens"),
        **SHARED,
    ),
]
