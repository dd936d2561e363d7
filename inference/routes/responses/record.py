"""What is stored of a response: itself and its whole input, encrypted, so that it can be continued without any other."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from django.conf import settings

from gateway.core.api.json import loads, written
from gateway.core.contract.errors import InvalidRequest
from gateway.core.contract.ids import new_id
from gateway.core.fields import encrypt_bytes
from inference.routes.responses.items import Item

log = logging.getLogger("inference.stored_responses")

RESPONSE_MAX_BYTES = 8 * 1024 * 1024
"""A longer response is given to its caller, and not stored; its `store` says so."""

_OUTPUT_ROLE = "assistant"


class Record:
    """Keeps a response. `input_items` is its encrypted input, made while a large one is still beside the event loop."""

    def __init__(self, input_items: str) -> None:
        self.input_items = input_items
        self._made: tuple[Mapping[str, Any], Mapping[str, Any] | None] | None = None

    def kept(self, response: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the members of `inference_close_responses`; None where it is too long, or they cannot be made.

        They are made once, so that what its client is told of a response is what becomes of it.
        """
        if self._made is None or self._made[0] != response:
            self._made = response, self._members(response)
        return self._made[1]

    def _members(self, response: Mapping[str, Any]) -> Mapping[str, Any] | None:
        try:
            text = orjson.dumps(response)
            if len(text) > RESPONSE_MAX_BYTES:
                return None
            return {
                "id": response["id"],
                "status": response["status"],
                "response": encrypt_bytes(text).decode(),
                "input_items": self.input_items,
                "days": settings.STORED_RESPONSE_DAYS,
            }
        except Exception:
            log.exception("%s: it could not be stored", response.get("id"))
            return None


def record_of(items: Sequence[Item], size_bytes: int) -> Record:
    """Build the record of a response to these items, which have about so many bytes. Raises InvalidRequest for a number
    that cannot be read again."""
    stored = [stored_item(item) for item in items]
    seen = set[str]()
    for item in stored:
        if item["id"] in seen:  # a page begins behind an id
            item["id"] = new_id(_prefix(item["type"]))
        seen.add(item["id"])
    text = written(stored, size_bytes)
    try:
        loads(text)
    except orjson.JSONDecodeError:
        raise InvalidRequest("The input holds a number that is too large to be stored.", param="input") from None
    return Record(encrypt_bytes(text).decode())


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
