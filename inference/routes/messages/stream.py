"""The stream format of a message: ends a stream early, and withholds its last event."""

from collections.abc import Mapping
from typing import Any

from gateway.core.contract.errors import ApiError
from inference.interface.request import StreamFormat
from inference.routes.messages.events import MESSAGE_STOP, Event, render


class MessageProgress:
    """What the client has received: the block that is open, and the counts of the message's beginning."""

    def __init__(self) -> None:
        self.usage_at_start: Mapping[str, Any] = {}
        self.open_block: int | None = None
        self.has_reason = False

    def add(self, event: Event) -> None:
        """Record an event that begins or ends something."""
        match event.get("type"):
            case "message_start":
                usage = event["message"].get("usage")
                self.usage_at_start = usage if isinstance(usage, Mapping) else {}
            case "content_block_start":
                index = event.get("index")
                self.open_block = index if type(index) is int else 0
            case "content_block_stop":
                self.open_block = None
            case "message_delta":
                self.has_reason = True


class MessageFormat(StreamFormat):
    """The vendor's events. `message_stop` is withheld until the call is settled."""

    terminator = render(MESSAGE_STOP)

    def __init__(self, progress: MessageProgress, output_tokens: int) -> None:
        self._progress = progress
        self._output_tokens = output_tokens

    def error(self, error: ApiError, request_id: str) -> bytes:
        """Render the vendor's event `error`, which its SDKs raise."""
        return render(error.messages_body(request_id))

    def cut(self) -> bytes:
        """Render the events that end a message at its output limit."""
        if self._progress.has_reason:
            return b""
        block = self._progress.open_block
        closed = b"" if block is None else render({"type": "content_block_stop", "index": block})
        delta = {"stop_reason": "max_tokens", "stop_sequence": None}
        usage = {**self._progress.usage_at_start, "output_tokens": self._output_tokens}
        return closed + render({"type": "message_delta", "delta": delta, "usage": usage})
