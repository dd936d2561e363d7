"""Builds the answer to a request for representations."""

from typing import Any

from inference.adapters.exchange import NotJSONError
from inference.adapters.representation.facts import Facts
from inference.interface.answer import Answer
from inference.interface.upstream import Attempt
from inference.rules.bounded_representation import BoundedRepresentation
from inference.rules.representation import ContradictedError


def representation_answer(attempt: Attempt[Any], facts: Facts, data: Any, usage: dict[str, Any] | None) -> Answer:
    """Build an answer with its manifest. `usage` has `input_tokens`, which the client gets under the vendor's names.

    Raises NotJSONError if the vectors do not match the representation that the request is bound to.
    """
    request: BoundedRepresentation = attempt.request
    try:
        known = request.representation.completed(facts.revision, facts.dimensions, facts.normalized)
    except ContradictedError as error:
        raise NotJSONError(str(error)) from error
    tokens = usage["input_tokens"] if usage else None
    body = {
        "object": "list",
        "model": attempt.call.public_model,
        "data": data,
        "manifest": known.manifest(request.input_type),
        "manifest_id": known.manifest_id,
        "usage": None if tokens is None else {"prompt_tokens": tokens, "total_tokens": tokens},
    }
    return Answer(body, usage)
