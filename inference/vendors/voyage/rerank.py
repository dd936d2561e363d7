"""Reranking at upstreams with the public API of Voyage AI."""

from typing import Any

from inference.adapters.exchange import NotJSONError
from inference.adapters.http_endpoint import JsonEndpoint
from inference.interface.upstream import Attempt
from inference.routes.rerank.bound import BoundedRerank
from inference.routes.rerank.limits import Limits
from inference.routes.rerank.members import OWN
from inference.routes.rerank.results import answer_of, read_scores


class VoyageRerank(JsonEndpoint[BoundedRerank]):
    """`POST /rerank`."""

    path = "/rerank"
    limits = Limits(documents=1000, query_tokens=8_000, pair_tokens=32_000, total_tokens=600_000, truncates=True)

    def body(self, attempt: Attempt[BoundedRerank], *, streams: bool) -> dict[str, Any]:
        """Build the body. `truncation` is always sent, because the provider's default is to truncate silently."""
        params = attempt.request.params
        return {
            **{name: value for name, value in params.body.items() if name not in OWN},
            "model": attempt.upstream_model,
            "query": params.query,
            "documents": params.documents,
            "top_k": params.results,
            "return_documents": False,
            "truncation": params.truncation,
        }

    def convert_answer(self, attempt: Attempt[BoundedRerank], body: dict[str, Any]) -> None:
        """Check the results, and convert them to the gateway's format."""
        usage = body.get("usage") or {}
        if not isinstance(usage, dict):
            raise NotJSONError("usage is not an object")
        answer = answer_of(attempt, read_scores(body.get("data"), attempt.request.params), usage.get("total_tokens"))
        body.clear()
        body |= answer
