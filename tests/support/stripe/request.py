"""A parsed request to the API."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Request:
    """`live` is the mode of the caller's key."""

    method: str
    path: str
    live: bool
    params: dict[str, Any] = field(default_factory=dict)
    object_id: str = ""
    idempotency_key: str | None = None
