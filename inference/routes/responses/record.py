"""What is stored of a response: itself and its whole input, encrypted, so that it can be continued without any other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from django.conf import settings

from gateway.core.contract.errors import InvalidRequest
from gateway.core.contract.ids import new_id
from gateway.core.fields import encrypt
from inference.routes.responses.items import Item

RESPONSE_MAX_BYTES = 8 * 1024 * 1024
"""A longer response is given to its caller, and not stored; its `store` says so."""

_OUTPUT_ROLE = "assistant"


@dataclass(frozen=True, slots=True)
class Record:
    """Keeps a response. `input_items` is its encrypted input, made while a large one is still beside the event loop."""

    input_items: str

    def keeps(self, response: Mapping[str, Any]) -> bool:
        """Return whether it is small enough to be kept."""
        return len(orjson.dumps(response)) <= RESPONSE_MAX_BYTES

    def kept(self, response: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the members of `inference_close_responses`."""
        return {
            "id": response["id"],
            "status": response["status"],
            "response": encrypt(orjson.dumps(response).decode()),
            "input_items": self.input_items,
            "days": settings.STORED_RESPONSE_DAYS,
        }


def record_of(items: Sequence[Item]) -> Record:
    """Build the record of a response to these items. Raises InvalidRequest for a number that cannot be read again."""
    written = orjson.dumps([stored_item(item) for item in items])
    try:
        orjson.loads(written)
    except orjson.JSONDecodeError:
        raise InvalidRequest("The input holds a number that is too large to be stored.", param="input") from None
    return Record(encrypt(written.decode()))


def stored_item(item: Item) -> dict[str, Any]:
    """Write an input item out in full, as it is listed: with an id, and a message's content as parts."""
    kind = item.get("type") or "message"
    stored = {**item, "type": kind, "id": item["id"] if _is_ours(item) else new_id(_prefix(kind))}
    if kind == "message":
        content = item["content"]
        stored["status"] = "completed"
        stored["content"] = [_text_part(item["role"], content)] if isinstance(content, str) else content
    return stored


def _is_ours(item: Item) -> bool:
    return isinstance(item.get("id"), str) and bool(item["id"])


def _prefix(kind: str) -> str:
    return {"message": "msg", "reasoning": "rs", "function_call": "fc", "custom_tool_call": "ctc"}.get(kind, "item")


def _text_part(role: str, text: str) -> dict[str, Any]:
    if role == _OUTPUT_ROLE:
        return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {"type": "input_text", "text": text}
