"""Chat completions, as one body or as a stream of chunks."""

from typing import Any, ClassVar

from inference.adapters.base import Attempt
from inference.adapters.exchange import NotJSONError
from inference.adapters.openai.chat_stream import ChatStream
from inference.adapters.openai.endpoint import Endpoint, make_ours
from inference.adapters.openai.tool_calls import rename_calls
from inference.adapters.streams import EventStream


class ChatCompletions(Endpoint):
    """`POST /chat/completions`."""

    path: ClassVar[str] = "/chat/completions"
    stream: ClassVar[type[EventStream] | None] = ChatStream

    def request(self, attempt: Attempt, *, streams: bool) -> dict[str, Any]:
        """Ask a stream for its usage whether or not the client did: the charge is made from it."""
        body = super().request(attempt, streams=streams)
        asked = body.pop("stream_options", None)
        body.pop("stream", None)
        if streams:
            options = asked if isinstance(asked, dict) else {}
            body |= {"stream": True, "stream_options": {**options, "include_usage": True}}
        return body

    def answer(self, attempt: Attempt, body: dict[str, Any]) -> dict[str, Any]:
        """Check that there are choices, and make every id ours."""
        choices = body.get("choices")
        if not isinstance(choices, list) or not choices:
            raise NotJSONError("no choices")
        for position, choice in enumerate(choices):
            if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
                raise NotJSONError("a choice without a message")
            rename_calls(attempt.public_id, position, choice["message"])
        body.setdefault("id", attempt.public_id)
        make_ours(attempt, body)
        return body
