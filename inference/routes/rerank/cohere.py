"""Reranking at upstreams that speak the second version of Cohere's public API."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from inference.adapters.exchange import NotJSONError, Refusal
from inference.adapters.http_endpoint import JsonEndpoint
from inference.routes.rerank.bound import BoundedRerank
from inference.routes.rerank.members import OWN
from inference.routes.rerank.results import answer_of, read_scores
from inference.rules.upstream import Attempt, Outcome

INVALID_TOKEN = 498
"""The provider's own status for a key that it does not know."""


class CohereRerank(JsonEndpoint[BoundedRerank]):
    """`POST /v2/rerank`."""

    path = "/v2/rerank"

    def body(self, attempt: Attempt[BoundedRerank], *, streams: bool) -> dict[str, Any]:
        """State the length to which documents are read: beyond the provider's default it would cut them in silence."""
        asked = attempt.request.asked
        return {
            **{name: value for name, value in asked.body.items() if name not in OWN},
            "model": attempt.model,
            "query": asked.query,
            "documents": asked.documents,
            "top_n": asked.results,
            "max_tokens_per_doc": asked.limits.pair_tokens,
        }

    def refused(self, attempt: Attempt[BoundedRerank], refusal: Refusal) -> Outcome:
        """Read the provider's own status as the common one."""
        known = replace(refusal, status=401) if refusal.status == INVALID_TOKEN else refusal
        return super().refused(attempt, known)

    def make_ours(self, attempt: Attempt[BoundedRerank], body: dict[str, Any]) -> None:
        """Check the results, and lay them out as ours."""
        scores = read_scores(body.get("results"), attempt.request.asked)
        answer = answer_of(attempt, scores, _tokens(body.get("meta")))
        body.clear()
        body |= answer


def _tokens(meta: Any) -> Any:
    """Read how many tokens the provider counted, where it says so."""
    tokens = meta.get("tokens") if isinstance(meta, Mapping) else None
    if tokens is None:
        return None
    if not isinstance(tokens, Mapping):
        raise NotJSONError("tokens are no object")
    return tokens.get("input_tokens")
