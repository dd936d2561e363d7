"""Reads of stored responses, always an owner's own and never an expired one."""

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
from gateway.core.api.json import loads
from gateway.core.api.logs import RecurringLog
from gateway.core.contract.errors import NotFound, NotReady
from gateway.core.database import ledger_connection
from gateway.core.fields import decrypt_bytes
from inference.models import StoredResponse

_CONVERSATION = """
SELECT input_items, response FROM inference_stored_response
 WHERE id = $1 AND owner_kind = $2 AND owner_key = $3 AND expires_at > clock_timestamp()
"""
_unreadable = RecurringLog("inference.stored_responses", logging.ERROR)
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
        """Return what was said so far: the input, and the output as far as it can be continued from. Raises NotReady where
        no key fits."""
        with _readable("previous_response_id"):
            said = loads(decrypt_bytes(self.input_items.encode()))
            output = loads(decrypt_bytes(self.response.encode()))["output"]
        return [*said, *(item for item in output if _is_usable(item))]


async def conversation(owner: Owner, response_id: str) -> Conversation:
    """Find a response of this owner to continue from. Raises NotFound."""
    async with ledger_connection() as connection:
        rows = await connection.run(_CONVERSATION, [response_id, *owner]) if _is_plausible(response_id) else []
    if not rows:
        raise NotFound("You have no such response.", param="previous_response_id")
    return Conversation(*rows[0])


def stored_response(owner: Owner, response_id: str, now: datetime) -> dict[str, Any]:
    """Return a response as its caller got it. Raises NotFound, or NotReady where no key fits."""
    return _column(owner, response_id, now, "response")


def input_items(owner: Owner, response_id: str, now: datetime) -> list[dict[str, Any]]:
    """Return the input of a response, oldest first. Raises NotFound, or NotReady where no key fits."""
    return _column(owner, response_id, now, "input_items")


def of_owner(owner: Owner, response_id: str, now: datetime) -> QuerySet[StoredResponse]:
    """Find a response of this owner that has not expired."""
    owner_kind, owner_key = owner
    return StoredResponse.objects.filter(id=response_id, owner_kind=owner_kind, owner_key=owner_key, expires_at__gt=now)


def _column(owner: Owner, response_id: str, now: datetime, name: str) -> Any:
    with _readable():
        value = of_owner(owner, response_id, now).values_list(name, flat=True).first()
    if value is None:
        raise NotFound("You have no such response.")
    return loads(value.encode())


@contextmanager
def _readable(param: str | None = None) -> Iterator[None]:
    """Log a response that no key decrypts any more, and refuse the caller's read."""
    try:
        yield
    except (ImproperlyConfigured, InvalidToken) as error:
        told = "a stored response cannot be read: no key of FIELD_ENCRYPTION_KEYS decrypts it"
        _unreadable.write("no key", told)
        raise NotReady("The stored response cannot be read at present.", param=param, private=told) from error


def _is_plausible(response_id: str) -> bool:
    return response_id.isascii() and response_id.isprintable()


def _is_usable(item: dict[str, Any]) -> bool:
    return item.get("status", "completed") == "completed" or item.get("type") not in _UNUSABLE_PARTS
