"""What one route of the vendor's API is: where it goes, what is sent, how its answer is made ours."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from inference.adapters.base import Attempt
from inference.adapters.streams import EventStream

PRIVATE_MEMBERS = ("system_fingerprint", "x_groq", "provider", "request_id")
"""Top-level members of an answer that name the upstream's machinery."""


class Endpoint(ABC):
    """One route. `stream` reads its event stream, where it has one."""

    path: ClassVar[str]
    stream: ClassVar[type[EventStream] | None] = None

    def request(self, attempt: Attempt, *, streams: bool) -> dict[str, Any]:
        """Build the body that goes upstream: the client's, with the deployment's model in the alias's place."""
        return {**attempt.body, "model": attempt.model}

    @abstractmethod
    def answer(self, attempt: Attempt, body: dict[str, Any]) -> dict[str, Any]:
        """Make an answer ours, in place; raise NotJSONError where it has not the shape of one."""


def make_ours(attempt: Attempt, body: dict[str, Any]) -> None:
    """Put the alias and our id where the upstream's stood, and drop what tells of its machinery, in place."""
    body["model"] = attempt.public_model
    if "id" in body:
        body["id"] = attempt.public_id
    for member in PRIVATE_MEMBERS:
        body.pop(member, None)
