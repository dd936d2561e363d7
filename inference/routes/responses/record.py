"""The stored record of a response: itself and its whole input, encrypted, so that it can be continued on its own."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from django.conf import settings

from billing.rules.owners import Owner
from gateway.core.contract.errors import InvalidRequest
from gateway.core.contract.ids import new_id
from gateway.core.encryption.stored_bytes import encrypt_text
from gateway.core.json.pieces import written
from gateway.core.json.strict import loads
from inference.models.stored_response import place
from inference.routes.responses.items import Item

log = logging.getLogger("inference.stored_responses")

RESPONSE_MAX_BYTES = 8 * 1024 * 1024
"""A longer response is returned but not stored, and its `store` is false."""

ID_PREFIX = "resp"

_OUTPUT_ROLE = "assistant"


class ResponseRecorder:
    """Builds the record of an owner's response, which will have this id. `input_items` is its encrypted input; a large one
    was encrypted off the event loop."""

    def __init__(self, response_id: str, owner: Owner, input_items: str) -> None:
        self.response_id = response_id
        self.input_items = input_items
        self._owner = owner
        self._made: tuple[Mapping[str, Any], Mapping[str, Any] | None] | None = None

    def record(self, response: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the members for `inference_close_responses`; None if the response is too long, or building them fails.

        They are built once, so that what the client is told about storage is what happens.
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
                "id": self.response_id,
                "status": response["status"],
                "response": encrypt_text(text, place("response", self.response_id, self._owner)),
                "input_items": self.input_items,
                "days": settings.STORED_RESPONSE_DAYS,
            }
        except Exception:
            log.exception("%s: it could not be stored", self.response_id)
            return None


def recorder_of(owner: Owner, items: Sequence[Item], size_bytes: int) -> ResponseRecorder:
    """Build the record of a response to the owner's items of about `size_bytes`. Raises InvalidRequest for a number that
    cannot be read again."""
    stored = [stored_item(item) for item in items]
    seen = set[str]()
    for item in stored:
        if item["id"] in seen:  # pages start after an id
            item["id"] = new_id(_prefix(item["type"]))
        seen.add(item["id"])
    text = written(stored, size_bytes)
    try:
        loads(text)
    except orjson.JSONDecodeError:
        raise InvalidRequest("The input holds a number that is too large to be stored.", param="input") from None
    response_id = new_id(ID_PREFIX)
    return ResponseRecorder(response_id, owner, encrypt_text(text, place("input_items", response_id, owner)))


def stored_item(item: Item) -> dict[str, Any]:
    """Return an input item in the form in which it is listed: with an id, and a message's content as parts."""
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
