"""What a caller may need to know about an error beyond its message: why it happened, and what to do."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Retry(StrEnum):
    """Whether the same request may be sent again."""

    NO = "No. The same request is refused again."
    AFTER_CHANGE = "Yes, once what the remedy names has changed."
    RENEWED = "Yes, at once, with a new token or proof."
    LATER = "Yes, after the seconds in `Retry-After`; a metered request with the same `Idempotency-Key`."
    SAME_KEY = "Yes; a metered request only with the same `Idempotency-Key`, so that it cannot be paid for twice."


@dataclass(frozen=True, slots=True)
class ErrorHelp:
    """The cause of an error and its remedy, in Markdown without links; `param` and `details` are those of the example."""

    cause: str
    remedy: str
    retry: Retry
    param: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
