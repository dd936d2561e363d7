"""Embeddings at upstreams that speak the public vendor API."""

from typing import Any

from inference.adapters.exchange import NotJSONError
from inference.adapters.http_endpoint import JsonEndpoint, put_our_names
from inference.routes.embeddings.bound import BoundedEmbeddings
from inference.rules.upstream import Attempt


class OpenAIEmbeddings(JsonEndpoint[BoundedEmbeddings]):
    """`POST /embeddings`."""

    path = "/embeddings"

    def make_ours(self, attempt: Attempt[BoundedEmbeddings], body: dict[str, Any]) -> None:
        """Check that there is one vector for every input, and make the answer ours."""
        data = body.get("data")
        if not isinstance(data, list) or len(data) != len(attempt.request.asked.inputs):
            raise NotJSONError("not exactly one embedding per input")
        if not all(isinstance(item, dict) and isinstance(item.get("embedding"), list | str) for item in data):
            raise NotJSONError("an item without an embedding")
        put_our_names(attempt, body)
