"""Requests and responses that are JSON objects."""

from collections.abc import Container, Mapping
from typing import Any

from gateway.core.contract.errors import InvalidRequest
from gateway.core.contract.values import value_class
from gateway.core.json.strict import dumps
from inference.interface.answer import Answer, Content
from inference.interface.request import BoundedRequest

JSON_TYPE = "application/json"


@value_class(frozen=True, slots=True)
class JsonBody:
    """A strictly parsed body. `size_bytes` and the SHA-256 `digest` are those of its compact form with sorted names,
    `body_sha256` is that of the body as it was sent."""

    members: dict[str, Any]
    size_bytes: int
    digest: bytes
    body_sha256: bytes
    is_large: bool

    @property
    def model(self) -> str:
        """Return the member `model`, or raise InvalidRequest."""
        name = self.members.get("model")
        if not isinstance(name, str) or not name:
            raise InvalidRequest("model must be the name of a model.", param="model")
        return name


@value_class(frozen=True)
class BoundedJson(BoundedRequest):
    """A request with JSON body and response. `is_large`: writing it would block the event loop for long."""

    hold_microusd: int
    body: Mapping[str, Any]
    is_large: bool

    @property
    def members(self) -> Container[str]:
        """Return the names of the body's members."""
        return self.body

    def content(self, answer: Answer, *, usage_is_known: bool = True) -> Content:
        return Content(JSON_TYPE, dumps(answer.body if usage_is_known else {**answer.body, "usage": None}))
