"""Checks a request for a response. If it continues another, that is read first; if it is to be stored, it gets its record."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from accounts.rules.principal import Principal
from billing.rules.owners import Owner
from gateway.core.runtime.offload import LARGE_BODY_BYTES, offload
from inference.interface.model import ServedModel
from inference.metering.route import PendingRequest
from inference.queries.stored_responses import Conversation, conversation
from inference.routes.responses.record import recorder_of
from inference.routes.responses.request import ResponseRequest, read_request
from inference.rules.json_body import JsonBody

COPIES = 3
"""The copies of a conversation in memory: as read, as items, and in the JSON that is sent."""


@dataclass(frozen=True, slots=True)
class Continuing(PendingRequest[ResponseRequest]):
    """A valid request that continues a stored response."""

    sent: JsonBody
    model: ServedModel
    previous_id: str

    async def load(self, principal: Principal, take_memory: Callable[[int], None]) -> ResponseRequest:
        """Read the caller's conversation so far. Raises NotFound, InputTooLarge if it has become too long, or what
        `take_memory` raises."""
        found = await conversation(principal.owner, self.previous_id)
        take_memory(found.size_bytes * COPIES)
        if found.size_bytes + self.sent.size_bytes > LARGE_BODY_BYTES:
            return await offload(self._continue, found)
        return self._continue(found)

    def _continue(self, found: Conversation) -> ResponseRequest:
        params = read_request(self.sent, self.model, found.items(), found.size_bytes)
        is_large = self.sent.is_large or found.size_bytes > LARGE_BODY_BYTES
        return _recorded(replace(params, is_large=is_large), found.owner)


@dataclass(frozen=True, slots=True)
class Storing(PendingRequest[ResponseRequest]):
    """A valid request that begins a conversation, to be stored for its caller."""

    params: ResponseRequest

    async def load(self, principal: Principal, take_memory: Callable[[int], None]) -> ResponseRequest:
        """Make its record; nothing is read. Raises InvalidRequest where the input cannot be stored."""
        if self.params.is_large:
            return await offload(_recorded, self.params, principal.owner)
        return _recorded(self.params, principal.owner)


def check(sent: JsonBody, model: ServedModel) -> ResponseRequest | Continuing | Storing:
    """Validate a request, or raise the error that names the member at fault."""
    params = read_request(sent, model)  # before the database is read
    if params.previous_id is not None:
        return Continuing(sent, model, params.previous_id)
    return Storing(params) if params.stores else params


def _recorded(params: ResponseRequest, owner: Owner) -> ResponseRequest:
    return replace(params, recorder=recorder_of(owner, params.items, params.size_bytes)) if params.stores else params
