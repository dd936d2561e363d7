"""Counts the input of a request before it is sent: what the vendor counts where a deployment can say it, else our bound."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gateway.core.contract.errors import InvalidRequest
from inference.interface.model import ServedModel
from inference.interface.request import BoundedRequest
from inference.interface.upstream import Attempt
from inference.routes.messages.content import read_content
from inference.routes.messages.context import check_edits
from inference.routes.messages.documents import read_documents
from inference.routes.messages.headers import MessageBody
from inference.routes.messages.images import read_images
from inference.routes.messages.members import MESSAGE_MEMBERS
from inference.routes.messages.request import bound_of, refuse_thread
from inference.routes.messages.sources import with_sources
from inference.rules.members import refuse_members

COUNTED = frozenset(
    {"cache_control", "messages", "output_config", "system", "thinking", "tool_choice", "tools"},
)
"""The members of a request that its input is made of."""


@dataclass(frozen=True, slots=True)
class CountRequest:
    """A valid request to count: what is counted, and the bound that a hold would use. `is_sendable`: an upstream may see it."""

    body: Mapping[str, Any]
    input_bound: int
    version: str | None
    betas: tuple[str, ...]
    is_sendable: bool


CountTokens = Callable[[Attempt[Any], CountRequest], Awaitable[int | None]]
"""`count_tokens` of an endpoint whose vendor counts: the count, None if it gave none. Raises nothing except cancellation."""


def read_count_request(sent: MessageBody, model: ServedModel) -> CountRequest:
    """Validate a request, or raise InvalidRequest or ImageRejected naming the member at fault."""
    body = sent.members
    refuse_thread(body)
    refuse_members(body, MESSAGE_MEMBERS)
    check_edits(body)
    if body.get("stream"):
        raise InvalidRequest("A count is not streamed.", param="stream")
    content = read_content(body, sent.size_bytes)
    relabelled, remote = read_images(body["messages"], model=model)
    to_fetch = read_documents(body["messages"]).remote
    counted = {name: value for name, value in with_sources(body, relabelled).items() if name in COUNTED}
    bound = bound_of(content, sent, model)
    return CountRequest(counted, bound, sent.version, sent.betas, is_sendable=not (remote or to_fetch))


class CountHold(BoundedRequest):
    """Stands for the hold that would be placed: whether its caller could pay for the input."""

    members = ()

    def __init__(self, hold_microusd: int) -> None:
        self.hold_microusd = hold_microusd

    def usage(self, answer: Any) -> Any:
        """Raise: nothing is sent."""
        raise TypeError("a count has no usage")

    def content(self, answer: Any, *, usage_is_known: bool = True) -> Any:
        """Raise: nothing is sent."""
        raise TypeError("a count has no content")
