"""Responses, as one body or as a stream of events."""

from typing import Any

from inference.adapters.exchange import NotJSONError
from inference.adapters.http_endpoint import JsonEndpoint
from inference.interface.upstream import Attempt
from inference.routes.responses.bound import BoundedResponse
from inference.vendors.openai.responses.names import convert_response
from inference.vendors.openai.responses.stream import ResponseStream

OVER = frozenset({"completed", "incomplete", "failed"})


class OpenAIResponses(JsonEndpoint[BoundedResponse]):
    """`POST /responses`."""

    path = "/responses"
    stream = ResponseStream

    def body(self, attempt: Attempt[BoundedResponse], *, streams: bool) -> dict[str, Any]:
        body = super().body(attempt, streams=streams)
        if not streams:
            body.pop("stream_options", None)
        return {**body, "stream": True} if streams else body

    def is_error(self, body: dict[str, Any]) -> bool:
        """Return whether there is an error that is not part of a failed response."""
        return super().is_error(body) and body.get("status") != "failed"

    def convert_answer(self, attempt: Attempt[BoundedResponse], body: dict[str, Any]) -> None:
        """Check that the response has ended, and replace the upstream's ids."""
        convert_response(attempt, body)
        if body["status"] not in OVER:
            raise NotJSONError("a response that has not ended")
