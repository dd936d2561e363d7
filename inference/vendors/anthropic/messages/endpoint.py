"""Messages, as one body or as a stream of the vendor's events."""

from collections.abc import Mapping
from typing import Any

from inference.adapters.exchange import NotJSONError
from inference.adapters.http_endpoint import JsonEndpoint, replace_upstream_names
from inference.interface.upstream import Attempt
from inference.routes.messages.bound import BoundedMessage
from inference.routes.messages.counting import CountRequest
from inference.routes.messages.headers import headers_of
from inference.vendors.anthropic.messages.blocks import read_block, without_foreign_thinking
from inference.vendors.anthropic.messages.counting import count_tokens
from inference.vendors.anthropic.messages.stream import MessageStream


class AnthropicMessages(JsonEndpoint[BoundedMessage]):
    """`POST /messages`."""

    path = "/messages"
    stream = MessageStream

    def headers(self, attempt: Attempt[BoundedMessage]) -> Mapping[str, str]:
        """Send on the version and the betas that the client named."""
        return headers_of(attempt.request.params.version, attempt.request.params.betas)

    async def count_tokens(self, attempt: Attempt[Any], request: CountRequest) -> int | None:
        """Return the vendor's count, None if it gave none."""
        return await count_tokens(attempt, request)

    def body(self, attempt: Attempt[BoundedMessage], *, streams: bool) -> dict[str, Any]:
        body = {**attempt.request.body, "model": attempt.upstream_model}
        body.pop("stream", None)
        if attempt.request.params.has_foreign_thinking:
            body["messages"] = without_foreign_thinking(body["messages"])
        return body | {"stream": True} if streams else body

    def is_error(self, body: dict[str, Any]) -> bool:
        return body.get("type") == "error" or super().is_error(body)

    def convert_answer(self, attempt: Attempt[BoundedMessage], body: dict[str, Any]) -> None:
        """Check that there is content, and replace the upstream's names."""
        content = body.get("content")
        if body.get("type") != "message" or not isinstance(content, list):
            raise NotJSONError("no message")
        for index, block in enumerate(content):
            read_block(attempt.call.public_id, index, block)
        body.setdefault("id", attempt.call.public_id)
        body.pop("container", None)
        replace_upstream_names(attempt, body)
