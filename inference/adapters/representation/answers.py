"""Reads what an upstream's answer reports about its vectors, and builds the gateway's answer with it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from inference.adapters.exchange import NotJSONError
from inference.interface.answer import Answer
from inference.interface.upstream import Attempt
from inference.rules.representation import BoundedRepresentation, ContradictedError

REVISION_MAX_CHARACTERS = 200
DIMENSIONS_MAX = 65_536


@dataclass(frozen=True, slots=True)
class Facts:
    """What an upstream reports about the vectors of one answer. `normalized` is None if it is not reported."""

    revision: str
    dimensions: int
    normalized: bool | None

    def as_contextual(self, quantization: str) -> "Facts":
        """Return the facts after normalization: floats have length 1, and 8-bit integers do not."""
        return replace(self, normalized=quantization == "float")


def read_revision(answer: Mapping[str, Any]) -> str:
    """Return the revision. Raises NotJSONError."""
    value = answer.get("revision")
    if not isinstance(value, str) or not value.isprintable() or not 1 <= len(value) <= REVISION_MAX_CHARACTERS:
        raise NotJSONError("revision is not a valid name")
    return value


def read_dimensions(answer: Mapping[str, Any]) -> int:
    """Return the number of dimensions. Raises NotJSONError."""
    value = answer.get("dimensions")
    if type(value) is not int or not 1 <= value <= DIMENSIONS_MAX:
        raise NotJSONError("dimensions is not a valid number")
    return value


def read_flag(answer: Mapping[str, Any], name: str) -> bool | None:
    """Return a boolean, or None if it is absent. Raises NotJSONError."""
    value = answer.get(name)
    if not (value is None or isinstance(value, bool)):
        raise NotJSONError(f"{name} is neither true nor false")
    return value


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
