"""Requests and answers that are JSON objects, as most routes have them."""

from collections.abc import Container, Mapping
from typing import Any

from gateway.core.api.json import dumps
from gateway.core.contract.errors import InvalidRequest
from gateway.core.contract.values import value_class
from inference.rules.answer import Answer, Content
from inference.rules.request import BoundedRequest

JSON_TYPE = "application/json"


@value_class(frozen=True, slots=True)
class JsonBody:
    """A strictly parsed body. `size_bytes` and the SHA-256 `digest` are those of its compact form, its names sorted."""

    members: dict[str, Any]
    size_bytes: int
    digest: bytes
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
    """A request that is sent as JSON and answered with it. `is_large` where writing it would keep the event loop
    long."""

    hold_microusd: int
    body: Mapping[str, Any]
    is_large: bool

    @property
    def members(self) -> Container[str]:
        """Return the body's names."""
        return self.body

    def content(self, answer: Answer, *, usage_is_known: bool = True) -> Content:
        """Render the answer as JSON."""
        return Content(JSON_TYPE, dumps(answer.body if usage_is_known else {**answer.body, "usage": None}))
