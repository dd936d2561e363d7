"""Checks a request for a response; one that continues from another has that read first."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from accounts.rules.principal import Principal
from gateway.core.api.offload import LARGE_BODY_BYTES, offload
from inference.metering.route import PendingRequest
from inference.queries.stored_responses import Conversation, conversation
from inference.routes.responses.items import Item
from inference.routes.responses.record import record_of
from inference.routes.responses.request import ResponseRequest, read_request
from inference.rules.json_body import JsonBody
from inference.rules.model import ServedModel

COPIES = 3
"""A conversation is kept as it was read, as its items, and in the JSON that is sent."""


@dataclass(frozen=True, slots=True)
class Continuing(PendingRequest[ResponseRequest]):
    """A valid request that continues from a stored response."""

    sent: JsonBody
    model: ServedModel
    previous_id: str

    async def load(self, principal: Principal, take_memory: Callable[[int], None]) -> ResponseRequest:
        """Read the caller's own conversation so far. Raises NotFound, InputTooLarge where it is too long by now, or what
        `take_memory` raises."""
        found = await conversation(principal.owner, self.previous_id)
        take_memory(found.size_bytes * COPIES)
        if found.size_bytes + self.sent.size_bytes > LARGE_BODY_BYTES:
            return await offload(self._continue, found)
        return self._continue(found)

    def _continue(self, found: Conversation) -> ResponseRequest:
        history = found.items()
        is_large = self.sent.is_large or found.size_bytes > LARGE_BODY_BYTES
        return replace(_checked(self.sent, self.model, history, found.size_bytes), is_large=is_large)


def check(sent: JsonBody, model: ServedModel) -> ResponseRequest | Continuing:
    """Validate a request, or raise the error that names the member at fault."""
    previous_id = sent.members.get("previous_response_id")
    if previous_id is None:
        return _checked(sent, model)
    read_request(sent, model)  # before anything is read for it
    return Continuing(sent, model, previous_id)


def _checked(
    sent: JsonBody, model: ServedModel, history: Sequence[Item] = (), history_max_bytes: int = 0
) -> ResponseRequest:
    asked = read_request(sent, model, history, history_max_bytes)
    return replace(asked, keeper=record_of(asked.items, asked.size_bytes)) if asked.stores else asked
