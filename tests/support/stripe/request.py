"""One request to the API, read."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Request:
    """Who asks is told by `live`, the mode of the key."""

    method: str
    path: str
    live: bool
    params: dict[str, Any] = field(default_factory=dict)
    object_id: str = ""
    idempotency_key: str | None = None
