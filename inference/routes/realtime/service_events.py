"""The gateway's own events, and the vendor's error event with the gateway's errors or in its words: an upstream's own texts may contain
keys, hosts or other customers' text."""

import re
from collections.abc import Mapping
from typing import Any

from gateway.core.contract.errors import ApiError
from gateway.core.contract.ids import new_id
from inference.adapters.error_codes import TEXT_OF_CODE

Event = dict[str, Any]

_PARAM = re.compile(r"[a-z_]{1,64}(?:[.\[][a-z0-9_\]]{1,64}){0,8}", re.ASCII)

TEXTS: Mapping[str, str] = {
    **TEXT_OF_CODE,
    "conversation_already_has_active_response": "A response is already in progress.",
    "input_audio_buffer_commit_empty": "There is not enough sound in the buffer.",
    "invalid_value": "The provider rejected a value of the event.",
    "item_not_found": "There is no such item.",
    "missing_required_parameter": "The event lacks a member.",
    "response_cancel_not_active": "There is no response to cancel.",
    "unknown_parameter": "The provider does not know a member of the event.",
}


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


def redacted_error(error: Any) -> dict[str, Any]:
    """Return an error object that keeps only a recognized code of the upstream's."""
    members = error if isinstance(error, Mapping) else {}
    code, param = members.get("code"), members.get("param")
    is_request = members.get("type") == "invalid_request_error"
    known = code if isinstance(code, str) and code in TEXTS else None
    default = "The model's provider rejected the event." if is_request else "The model's provider failed."
    return {
        "type": "invalid_request_error" if is_request else "api_error",
        "code": known or ("invalid_request" if is_request else "upstream_error"),
        "message": TEXTS[known] if known else default,
        "param": param if isinstance(param, str) and _PARAM.fullmatch(param) else None,
    }
