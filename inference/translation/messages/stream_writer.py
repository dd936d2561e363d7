"""Writes the events of a streamed message."""

from collections.abc import Callable
from typing import Any

from inference.translation import events
from inference.translation.answer import End, Head, MalformedAnswer
from inference.translation.messages.answer_writer import call_id, stop_reason
from inference.translation.messages.usage import NOTHING_COUNTED, write_usage

Events = list[dict[str, Any]]


class StreamWriter:
    """Writes one stream: `begin`, then `write` for each event, then `finish`. `usage` and
    `service_tier` are what the upstream reported."""

    def __init__(self, head: Head) -> None:
        self._head = head
        self._index = -1
        self._open: str | None = None
        self._has_calls = False
        self._end = End.DONE
        self.usage: dict[str, Any] | None = None
        self.service_tier: Any = None
        self._writers: dict[type, Callable[[Any], Events]] = {
            events.TextDelta: lambda event: self._text(event.text),
            events.RefusalDelta: lambda event: self._text(event.text),
            events.ReasoningDelta: self._thinking,
            events.CallBegun: self._begin_call,
            events.ArgumentsDelta: self._arguments,
            events.Ended: self._ended,
            events.Reported: self._report,
            events.Served: self._note_tier,
            events.Failed: lambda event: [],
        }

    def begin(self) -> Events:
        """Write the event that opens the message."""
        message: dict[str, Any] = {
            "id": self._head.id,
            "type": "message",
            "role": "assistant",
            "model": self._head.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": dict(NOTHING_COUNTED),
        }
        return [{"type": "message_start", "message": message}]

    def write(self, event: events.Event) -> Events:
        """Write an event. A failure has no event here: the route's format has one. Raises MalformedAnswer if it cannot be written."""
        return self._writers[type(event)](event)

    def repeat(self, text: str, count: int) -> int:
        """Skip a text that `count` events contain, rendered like the one before. Return 0: events have no numbers."""
        return 0

    def finish(self) -> Events:
        """Write the end, with the usage if it is known."""
        delta = {"stop_reason": stop_reason(self._end, has_calls=self._has_calls), "stop_sequence": None}
        last = {"type": "message_delta", "delta": delta, "usage": self.usage or dict(NOTHING_COUNTED)}
        return [*self._close(), last, {"type": "message_stop"}]

    def _text(self, text: str) -> Events:
        return [*self._opened("text", {"type": "text", "text": ""}), self._delta({"type": "text_delta", "text": text})]

    def _thinking(self, event: events.ReasoningDelta) -> Events:
        opened = self._opened("thinking", {"type": "thinking", "thinking": "", "signature": ""})
        return [*opened, self._delta({"type": "thinking_delta", "thinking": event.text})]

    def _begin_call(self, event: events.CallBegun) -> Events:
        self._has_calls = True
        called = {"id": call_id(self._head, event.index), "name": event.name, "input": {}}
        return self._opened(f"call {event.index}", {"type": "tool_use", **called})

    def _arguments(self, event: events.ArgumentsDelta) -> Events:
        if self._open != f"call {event.index}":
            raise MalformedAnswer("arguments of a call that is not the latest")
        return [self._delta({"type": "input_json_delta", "partial_json": event.text})]

    def _ended(self, event: events.Ended) -> Events:
        self._end = event.end
        return []

    def _report(self, event: events.Reported) -> Events:
        self.usage = write_usage(event.usage)
        return []

    def _note_tier(self, event: events.Served) -> Events:
        self.service_tier = event.service_tier
        return []

    def _opened(self, kind: str, block: dict[str, Any]) -> Events:
        """Return what opens a block of this kind, after the end of another one; nothing if it is open."""
        if self._open == kind:
            return []
        closed = self._close()
        self._open, self._index = kind, self._index + 1
        return [*closed, {"type": "content_block_start", "index": self._index, "content_block": block}]

    def _close(self) -> Events:
        if self._open is None:
            return []
        self._open = None
        return [{"type": "content_block_stop", "index": self._index}]

    def _delta(self, delta: dict[str, Any]) -> dict[str, Any]:
        return {"type": "content_block_delta", "index": self._index, "delta": delta}
