"""Writes the chunks of a streamed chat completion."""

from collections.abc import Callable
from typing import Any

from inference.translation import events
from inference.translation.answer import End, Head
from inference.translation.chat.answer_writer import finish_reason, write_usage

Chunks = list[dict[str, Any]]


class StreamWriter:
    """Writes one stream: `begin`, then `write` for each event, then `finish`; `[DONE]` is not a chunk.

    `show_usage`: the client asked for a last chunk with the usage. `usage` is the reported usage in that chunk's form, and
    `service_tier` the reported tier.
    """

    def __init__(self, head: Head, *, show_usage: bool) -> None:
        self._head = head
        self._show_usage = show_usage
        self._has_calls = False
        self._is_ended = False
        self.usage: dict[str, Any] | None = None
        self.service_tier: Any = None
        self._envelope: dict[str, Any] = {
            "id": head.id,
            "object": "chat.completion.chunk",
            "created": head.created,
            "model": head.model,
        }
        self._tail: dict[str, Any] = {"usage": None} if show_usage else {}
        self._writers: dict[type, Callable[[Any], Chunks]] = {
            events.TextDelta: self._text,
            events.RefusalDelta: lambda event: self._delta({"refusal": event.text}),
            events.ReasoningDelta: lambda event: self._delta({"reasoning_content": event.text}),
            events.CallBegun: self._begin_call,
            events.ArgumentsDelta: self._arguments,
            events.Ended: self._end,
            events.Reported: self._report,
            events.Served: self._note_tier,
            events.Failed: lambda event: [],
        }

    def begin(self) -> Chunks:
        """Write the chunk that opens the stream."""
        return self._delta({"role": "assistant", "content": "", "refusal": None})

    def write(self, event: events.Event) -> Chunks:
        """Write an event. A failure has no chunk in this format."""
        return self._writers[type(event)](event)

    def repeat(self, text: str, count: int) -> int:
        """Skip a text that `count` chunks contain, rendered like the one before. Return 0: chunks have no numbers."""
        return 0

    def finish(self) -> Chunks:
        """Write the end if no event did, and the usage if it was requested and is known."""
        chunks = [] if self._is_ended else self._end(events.Ended(End.DONE))
        if self._show_usage and self.usage is not None:
            chunks.append({**self._envelope, "choices": [], "usage": self.usage})
        return chunks

    def _text(self, event: events.TextDelta) -> Chunks:
        logprobs = None if event.logprobs is None else {"content": event.logprobs, "refusal": None}
        return self._delta({"content": event.text}, logprobs)

    def _begin_call(self, event: events.CallBegun) -> Chunks:
        self._has_calls = True
        function = {"name": event.name, "arguments": ""}
        call = {"index": event.index, "id": self._head.call_id(event.index), "type": "function", "function": function}
        return self._delta({"tool_calls": [call]})

    def _arguments(self, event: events.ArgumentsDelta) -> Chunks:
        return self._delta({"tool_calls": [{"index": event.index, "function": {"arguments": event.text}}]})

    def _end(self, event: events.Ended) -> Chunks:
        self._is_ended = True
        return self._delta({}, finish_reason=finish_reason(event.end, has_calls=self._has_calls))

    def _report(self, event: events.Reported) -> Chunks:
        self.usage = write_usage(event.usage)
        return []

    def _note_tier(self, event: events.Served) -> Chunks:
        self.service_tier = self._envelope["service_tier"] = event.service_tier
        return []

    def _delta(self, delta: dict[str, Any], logprobs: Any = None, finish_reason: str | None = None) -> Chunks:
        choice = {"index": 0, "delta": delta, "logprobs": logprobs, "finish_reason": finish_reason}
        return [{**self._envelope, "choices": [choice], **self._tail}]
