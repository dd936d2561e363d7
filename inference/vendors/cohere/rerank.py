"""Reranking at upstreams with the second version of Cohere's public API."""

from collections.abc import Mapping
from typing import Any

from inference.adapters.exchange import NotJSONError, Refusal
from inference.adapters.http_endpoint import JsonEndpoint
from inference.interface.upstream import Attempt, Outcome
from inference.routes.rerank.bound import BoundedRerank
from inference.routes.rerank.limits import Limits
from inference.routes.rerank.members import OWN
from inference.routes.rerank.results import answer_of, read_scores
from inference.vendors.cohere.errors import with_common_status


class CohereRerank(JsonEndpoint[BoundedRerank]):
    """`POST /v2/rerank`."""

    path = "/v2/rerank"
    limits = Limits(documents=1000, query_tokens=2_048, pair_tokens=4_096, total_tokens=None, truncates=False)

    def body(self, attempt: Attempt[BoundedRerank], *, streams: bool) -> dict[str, Any]:
        """Build the body with an explicit document length: beyond its default, the provider would truncate silently."""
        params = attempt.request.params
        return {
            **{name: value for name, value in params.body.items() if name not in OWN},
            "model": attempt.upstream_model,
            "query": params.query,
            "documents": params.documents,
            "top_n": params.results,
            "max_tokens_per_doc": params.limits.pair_tokens,
        }

    def refused(self, attempt: Attempt[BoundedRerank], refusal: Refusal) -> Outcome:
        """Map the provider's own status to the common one."""
        return super().refused(attempt, with_common_status(refusal))

    def convert_answer(self, attempt: Attempt[BoundedRerank], body: dict[str, Any]) -> None:
        """Check the results, and convert them to the gateway's format."""
        scores = read_scores(body.get("results"), attempt.request.params)
        answer = answer_of(attempt, scores, _tokens(body.get("meta")))
        body.clear()
        body |= answer


def _tokens(meta: Any) -> Any:
    """Read the provider's token count, if stated."""
    tokens = meta.get("tokens") if isinstance(meta, Mapping) else None
    if tokens is None:
        return None
    if not isinstance(tokens, Mapping):
        raise NotJSONError("tokens is not an object")
    return tokens.get("input_tokens")
