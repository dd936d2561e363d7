"""Requests and answers that are JSON objects, as most routes have them."""

import hashlib
from collections.abc import Container, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gateway.api.json import canonical, dumps
from gateway.contract.errors import InvalidRequest
from inference.rules.answer import Answer, Content
from inference.rules.request import BoundedRequest

JSON_TYPE = "application/json"


@dataclass(frozen=True)
class JsonBody:
    """A strictly parsed body, and how many bytes it had as it came."""

    members: dict[str, Any]
    is_large: bool
    sent_bytes: int = 0

    @property
    def model(self) -> str:
        """Return the member `model`, or raise InvalidRequest."""
        name = self.members.get("model")
        if not isinstance(name, str) or not name:
            raise InvalidRequest("model must name a model.", param="model")
        return name

    @cached_property
    def compact(self) -> bytes:
        """Return the canonical form: compact, its keys sorted."""
        return canonical(self.members, self.sent_bytes)

    @property
    def digest(self) -> bytes:
        """Return the SHA-256 of the canonical form."""
        return hashlib.sha256(self.compact).digest()


@dataclass(frozen=True)
class BoundedJson(BoundedRequest):
    """A request that is sent as JSON and answered with it. `is_large` where writing it would keep the event loop long."""

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
