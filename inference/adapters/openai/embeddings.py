"""Embeddings."""

from collections.abc import Mapping
from typing import Any, ClassVar

from inference.adapters.base import Attempt
from inference.adapters.exchange import NotJSONError
from inference.adapters.openai.endpoint import Endpoint, make_ours


class Embeddings(Endpoint):
    """`POST /embeddings`."""

    path: ClassVar[str] = "/embeddings"

    def answer(self, attempt: Attempt, body: dict[str, Any]) -> dict[str, Any]:
        """Check that there is one vector for every input, and make the answer ours."""
        data = body.get("data")
        if not isinstance(data, list) or len(data) != _count_inputs(attempt.body):
            raise NotJSONError("not one embedding for every input")
        if not all(isinstance(item, dict) and isinstance(item.get("embedding"), list | str) for item in data):
            raise NotJSONError("an item without an embedding")
        make_ours(attempt, body)
        return body


def _count_inputs(body: Mapping[str, Any]) -> int:
    """Count the inputs: one text, one list of tokens, or a list of either."""
    given = body.get("input")
    return len(given) if isinstance(given, list) and not (given and isinstance(given[0], int)) else 1
