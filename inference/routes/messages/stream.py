"""The stream format of a message: ends a stream early, and withholds its last event."""

from collections.abc import Callable, Mapping
from typing import Any

from gateway.core.contract.errors import ApiError
from inference.interface.request import StreamFormat
from inference.routes.messages.events import MESSAGE_STOP, Event, render


class MessageProgress:
    """What the client has received: the blocks that are open, and the counts of the message's beginning."""

    def __init__(self) -> None:
        self.usage_at_start: Mapping[str, Any] = {}
        self.open_blocks: set[int] = set()
        self.has_reason = False

    def add(self, event: Event) -> None:
        """Record an event that begins or ends something."""
        match event.get("type"):
            case "message_start":
                usage = event["message"].get("usage")
                self.usage_at_start = usage if isinstance(usage, Mapping) else {}
            case "content_block_start":
                self.open_blocks.add(event["index"])
            case "content_block_stop":
                self.open_blocks.discard(event["index"])
            case "message_delta":
                self.has_reason = self.has_reason or event["delta"].get("stop_reason") is not None


class MessageFormat(StreamFormat):
    """The vendor's events. `message_stop` is withheld until the call is settled."""

    terminator = render(MESSAGE_STOP)

    def __init__(self, progress: MessageProgress, usage_delivered: Callable[[], Mapping[str, int]]) -> None:
        self._progress = progress
        self._usage_delivered = usage_delivered

    def error(self, error: ApiError, request_id: str) -> bytes:
        """Render the vendor's event `error`, which its SDKs raise."""
        return render(error.messages_body(request_id))

    def cut(self) -> bytes:
        """Render the events that end a message at its output limit."""
        if self._progress.has_reason:
            return b""
        ends: list[Event] = [
            {"type": "content_block_stop", "index": index} for index in sorted(self._progress.open_blocks)
        ]
        delta = {"stop_reason": "max_tokens", "stop_sequence": None}
        ends.append({"type": "message_delta", "delta": delta, "usage": self._usage_delivered()})
        return b"".join(map(render, ends))
