"""Reads stored responses, only the owner's own and never expired ones."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cryptography.fernet import InvalidToken
from django.core.exceptions import ImproperlyConfigured
from django.db.models import QuerySet

from billing.rules.owners import Owner
from gateway.core.contract.errors import NotFound, NotReady
from gateway.core.database import ledger_connection
from gateway.core.encryption.stored_bytes import decrypt_text
from gateway.core.json.strict import loads
from gateway.core.runtime.logs import RecurringLog
from inference.models import StoredResponse
from inference.models.stored_response import BOUND_TO, place

_CONVERSATION = """
SELECT input_items, response FROM inference_stored_response
 WHERE id = $1 AND owner_kind = $2 AND owner_key = $3 AND expires_at > clock_timestamp()
"""
_unreadable = RecurringLog("inference.stored_responses", logging.ERROR)
_UNUSABLE_PARTS = frozenset({"function_call", "custom_tool_call", "reasoning"})
"""Items that are usable for a model only if they are complete."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """An owner's stored response and its input, still encrypted; `size_bytes` is the size of both encrypted."""

    owner: Owner
    response_id: str
    input_items: str
    response: str

    @property
    def size_bytes(self) -> int:
        """Return the encrypted size, a little more than that of the JSON."""
        return len(self.input_items) + len(self.response)

    def items(self) -> list[dict[str, Any]]:
        """Return the conversation so far: the input, and the part of the output that can be continued. Raises NotReady
        if no key fits."""
        with _readable("previous_response_id"):
            items = loads(self._decrypted("input_items", self.input_items))
            output = loads(self._decrypted("response", self.response))["output"]
        return [*items, *(item for item in output if _is_usable(item))]

    def _decrypted(self, column: str, stored: str) -> bytes:
        return decrypt_text(stored, place(column, self.response_id, self.owner))


async def conversation(owner: Owner, response_id: str) -> Conversation:
    """Find a response of this owner to continue. Raises NotFound."""
    async with ledger_connection() as connection:
        rows = await connection.run(_CONVERSATION, [response_id, *owner]) if _is_plausible(response_id) else []
    if not rows:
        raise NotFound("You have no such response.", param="previous_response_id")
    return Conversation(owner, response_id, *rows[0])


def stored_response(owner: Owner, response_id: str, now: datetime) -> dict[str, Any]:
    """Return a response as its caller received it. Raises NotFound, or NotReady if no key fits."""
    return _column(owner, response_id, now, "response")


def input_items(owner: Owner, response_id: str, now: datetime) -> list[dict[str, Any]]:
    """Return the input of a response, oldest first. Raises NotFound, or NotReady if no key fits."""
    return _column(owner, response_id, now, "input_items")


def of_owner(owner: Owner, response_id: str, now: datetime) -> QuerySet[StoredResponse]:
    """Find an unexpired response of this owner."""
    owner_kind, owner_key = owner
    return StoredResponse.objects.filter(id=response_id, owner_kind=owner_kind, owner_key=owner_key, expires_at__gt=now)


def _column(owner: Owner, response_id: str, now: datetime, name: str) -> Any:
    stored = of_owner(owner, response_id, now).only(*BOUND_TO, name).first()
    if stored is None:
        raise NotFound("You have no such response.")
    with _readable():
        return loads(getattr(stored, name).encode())


@contextmanager
def _readable(param: str | None = None) -> Iterator[None]:
    """Turn a failed decryption of a response into NotReady, and log it."""
    try:
        yield
    except (ImproperlyConfigured, InvalidToken) as error:
        message = "a stored response cannot be read: no key of FIELD_ENCRYPTION_KEYS decrypts it in its row"
        _unreadable.write("no key", message)
        raise NotReady("The stored response cannot be read at present.", param=param, private=message) from error


def _is_plausible(response_id: str) -> bool:
    return response_id.isascii() and response_id.isprintable()


def _is_usable(item: dict[str, Any]) -> bool:
    return item.get("status", "completed") == "completed" or item.get("type") not in _UNUSABLE_PARTS
