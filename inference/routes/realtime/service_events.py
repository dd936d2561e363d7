"""The gateway's own events, and the vendor's error event with the gateway's errors."""

from typing import Any

from gateway.core.contract.errors import ApiError
from gateway.core.contract.ids import new_id

Event = dict[str, Any]


def error_event(error: ApiError, request_id: str, event_id: str | None = None) -> Event:
    """Build the vendor's error event; `event_id` is the client's event that it refers to."""
    body = error.body(request_id)["error"] | {"event_id": event_id}
    return {"type": "error", "event_id": new_id("event"), "error": body}


def usage_event(usage_id: str, charge_microusd: int, hold_microusd: int) -> Event:
    """Build the event with the session's cost so far."""
    return {
        "type": "service.usage",
        "event_id": new_id("event"),
        "usage_id": usage_id,
        "charge_microusd": charge_microusd,
        "hold_microusd": hold_microusd,
    }


def reauthorized_event(expires_at: int) -> Event:
    """Build the event with the session's new expiry, in Unix seconds."""
    return {"type": "service.reauthorized", "event_id": new_id("event"), "expires_at": expires_at}
