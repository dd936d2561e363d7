"""What a metered call cost: read from the answer's headers and, for a stream, from its closing comment."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self  # typing has it from Python 3.11 on

MAX_COST = "x-service-max-cost-microusd"
IDEMPOTENCY_KEY = "Idempotency-Key"
MAX_COST_MICROUSD = 1_000_000_000
TAIL_BYTES = 2048
EXTENSION = "account_gateway.receipt"
_AMOUNT = re.compile(r"[0-9]{1,18}", re.ASCII)
_CLOSING_COMMENT = re.compile(rb"(?:^|\n): service (\{[^\r\n]*\})")


@dataclass(frozen=True, slots=True)
class Receipt:
    """Money in micro-USD (1 USD is 1,000,000). `charge_microusd` is None while a stream runs or an outcome is open."""

    usage_id: str
    hold_microusd: int | None
    charge_microusd: int | None
    replayed: bool

    @classmethod
    def from_headers(cls, headers: Mapping[str, str]) -> "Self | None":
        """Read the headers of a metered answer; None where the request was not metered."""
        usage_id = headers.get("x-service-usage-id")
        if usage_id is None:
            return None
        return cls(
            usage_id=usage_id,
            hold_microusd=_whole(headers.get("x-service-hold-microusd")),
            charge_microusd=_whole(headers.get("x-service-charge-microusd")),
            replayed=headers.get("Idempotent-Replayed") == "true",
        )

    def closed_by(self, tail: bytes) -> "Self":
        """Return the receipt with the charge that the end of a stream tells."""
        comments = _CLOSING_COMMENT.findall(tail)
        return replace(self, charge_microusd=_charge_of(comments[-1])) if comments else self


def receipt_of(answer: Any) -> Receipt | None:
    """Return the receipt of a response of httpx or requests, or of a stream or raw response of an official SDK.

    A stream's charge is there once the stream was read to its end.
    """
    response = getattr(answer, "response", None) or getattr(answer, "http_response", None) or answer
    watched = getattr(response, "extensions", {}).get(EXTENSION)
    return watched.receipt if watched else Receipt.from_headers(response.headers)


def call_headers(*, max_cost_microusd: int, idempotency_key: str) -> dict[str, str]:
    """Return the two headers that every metered request needs. Raises ValueError for a limit that is none."""
    return {MAX_COST: limit_of(max_cost_microusd), IDEMPOTENCY_KEY: idempotency_key}


def limit_of(max_cost_microusd: int) -> str:
    """Return the header's value of the most that a call may cost, or raise ValueError: it is easily given in dollars."""
    whole = isinstance(max_cost_microusd, int) and not isinstance(max_cost_microusd, bool)
    if not whole or not 1 <= max_cost_microusd <= MAX_COST_MICROUSD:
        raise ValueError(
            "max_cost_microusd must be a whole number of millionths of a dollar, from 1 to 1,000,000,000 "
            f"(20_000 is two cents), not {max_cost_microusd!r}."
        )
    return str(max_cost_microusd)


def _charge_of(comment: bytes) -> int | None:
    """Return the charge that a closing comment tells; None where it tells none."""
    try:
        charge = json.loads(comment).get("charge_microusd")
    except (RecursionError, ValueError):
        return None
    return _whole(str(charge))


def _whole(text: str | None) -> int | None:
    """Read an amount; None where it is missing or none."""
    return int(text) if text is not None and _AMOUNT.fullmatch(text) else None
