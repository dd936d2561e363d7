"""Reads of stored responses, always an owner's own and never an expired one."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from django.db.models import QuerySet

from billing.rules.owners import Owner
from gateway.core.contract.errors import NotFound
from gateway.core.database import ledger_connection
from gateway.core.fields import decrypt
from inference.models import StoredResponse

_CONVERSATION = """
SELECT input_items, response FROM inference_stored_response
 WHERE id = $1 AND owner_kind = $2 AND owner_key = $3 AND expires_at > clock_timestamp()
"""
_UNUSABLE_PARTS = frozenset({"function_call", "custom_tool_call", "reasoning"})
"""Items that mean nothing to a model unless they are whole."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A stored response and its input, still encrypted; `size_bytes` is what both take that way."""

    input_items: str
    response: str

    @property
    def size_bytes(self) -> int:
        """Return a little more than the size of the JSON."""
        return len(self.input_items) + len(self.response)

    def items(self) -> list[dict[str, Any]]:
        """Return what was said so far: the input, and the output as far as it can be continued from."""
        said = orjson.loads(decrypt(self.input_items))
        output = orjson.loads(decrypt(self.response))["output"]
        return [*said, *(item for item in output if _is_usable(item))]


async def conversation(owner: Owner, response_id: str) -> Conversation:
    """Find a response of this owner to continue from. Raises NotFound."""
    async with ledger_connection() as connection:
        rows = await connection.run(_CONVERSATION, [response_id, *owner]) if _is_plausible(response_id) else []
    if not rows:
        raise NotFound("There is no such response of yours.", param="previous_response_id")
    return Conversation(*rows[0])


def stored_response(owner: Owner, response_id: str, now: datetime) -> dict[str, Any]:
    """Return a response as its caller got it. Raises NotFound."""
    return _column(owner, response_id, now, "response")


def input_items(owner: Owner, response_id: str, now: datetime) -> list[dict[str, Any]]:
    """Return the input of a response, oldest first. Raises NotFound."""
    return _column(owner, response_id, now, "input_items")


def of_owner(owner: Owner, response_id: str, now: datetime) -> QuerySet[StoredResponse]:
    """Find a response of this owner that has not expired."""
    owner_kind, owner_key = owner
    return StoredResponse.objects.filter(id=response_id, owner_kind=owner_kind, owner_key=owner_key, expires_at__gt=now)


def _column(owner: Owner, response_id: str, now: datetime, name: str) -> Any:
    value = of_owner(owner, response_id, now).values_list(name, flat=True).first()
    if value is None:
        raise NotFound("There is no such response of yours.")
    return orjson.loads(value)


def _is_plausible(response_id: str) -> bool:
    return response_id.isascii() and response_id.isprintable()


def _is_usable(item: dict[str, Any]) -> bool:
    return item.get("status", "completed") == "completed" or item.get("type") not in _UNUSABLE_PARTS
