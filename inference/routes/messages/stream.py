"""The stream format of a message: ends a stream early, and withholds its last event."""

from collections.abc import Callable, Mapping
from typing import Any

from gateway.core.contract.errors import ApiError
from inference.interface.answer import Chunk
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


_FRAMING = frozenset({"message_start", "content_block_start", "content_block_stop"})


def _without_output(event: Event) -> Event:
    """Return an event without the output that a block may begin with."""
    block = event.get("content_block")
    if not isinstance(block, Mapping):
        return event
    return {**event, "content_block": {**block, **{name: "" for name in ("text", "thinking") if name in block}}}


class MessageFormat(StreamFormat):
    """The vendor's events. `message_stop` is withheld until the call is settled."""

    terminator = render(MESSAGE_STOP)

    def __init__(self, progress: MessageProgress, usage_delivered: Callable[[], Mapping[str, int]]) -> None:
        self._progress = progress
        self._usage_delivered = usage_delivered

    def frame(self, chunk: Chunk) -> bytes:
        """Render the events that begin and end blocks. The end of the message is `cut`'s."""
        kinds = [event["type"] for event in chunk.events]
        if "message_delta" in kinds:
            self._progress.has_reason = False
        framing = [_without_output(event) for event, kind in zip(chunk.events, kinds, strict=True) if kind in _FRAMING]
        return b"".join(map(render, framing))

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
