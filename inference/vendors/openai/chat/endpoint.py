"""Chat completions, as one body or as a stream of chunks."""

from typing import Any

from inference.adapters.exchange import NotJSONError
from inference.adapters.http_endpoint import JsonEndpoint, replace_upstream_names
from inference.interface.upstream import Attempt
from inference.routes.chat.bound import BoundedChat
from inference.vendors.openai.chat.ids import rename_audio, rename_calls
from inference.vendors.openai.chat.stream import ChatStream


class OpenAIChat(JsonEndpoint[BoundedChat]):
    """`POST /chat/completions`."""

    path = "/chat/completions"
    stream = ChatStream

    def body(self, attempt: Attempt[BoundedChat], *, streams: bool) -> dict[str, Any]:
        """Request the usage of a stream even if the client did not, because the charge depends on it."""
        body = {**attempt.request.body, "model": attempt.upstream_model}
        sent = body.pop("stream_options", None)
        body.pop("stream", None)
        if streams:
            options = sent if isinstance(sent, dict) else {}
            body |= {"stream": True, "stream_options": {**options, "include_usage": True}}
        return body

    def convert_answer(self, attempt: Attempt[BoundedChat], body: dict[str, Any]) -> None:
        """Check that there are choices, and replace the upstream's ids."""
        choices = body.get("choices")
        if not isinstance(choices, list) or not choices:
            raise NotJSONError("no choices")
        for position, choice in enumerate(choices):
            if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
                raise NotJSONError("a choice without a message")
            rename_calls(attempt.call.public_id, position, choice["message"])
            rename_audio(attempt.call.public_id, position, choice["message"])
        body.setdefault("id", attempt.call.public_id)
        replace_upstream_names(attempt, body)
