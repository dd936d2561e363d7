"""Embeddings at upstreams that implement the public vendor API."""

from typing import Any

from inference.adapters.exchange import NotJSONError
from inference.adapters.http_endpoint import JsonEndpoint, replace_upstream_names
from inference.adapters.representation.vectors import NUMBERS, check_indices
from inference.interface.upstream import Attempt
from inference.routes.embeddings.bound import BoundedEmbeddings
from inference.routes.embeddings.capabilities import Capabilities, Representations


class OpenAIEmbeddings(JsonEndpoint[BoundedEmbeddings]):
    """`POST /embeddings`."""

    path = "/embeddings"
    capabilities = Capabilities(representations=Representations.NEVER, requires_input_type=False)

    def convert_answer(self, attempt: Attempt[BoundedEmbeddings], body: dict[str, Any]) -> None:
        """Check that there is one vector for each input, and replace the upstream's names."""
        data = body.get("data")
        if not isinstance(data, list) or len(data) != len(attempt.request.params.inputs):
            raise NotJSONError("not exactly one embedding per input")
        if not all(isinstance(item, dict) and _is_vector(item.get("embedding")) for item in data):
            raise NotJSONError("an item without an embedding")
        check_indices(data)
        replace_upstream_names(attempt, body)


def _is_vector(embedding: Any) -> bool:
    if isinstance(embedding, list):
        return bool(embedding) and NUMBERS.issuperset(map(type, embedding))
    return isinstance(embedding, str) and bool(embedding)
