"""Writes the typed events of a streamed response, in the vendor's order."""

from collections.abc import Callable, Mapping
from typing import Any

from inference.translation.answer import End, Head, MalformedAnswer, Usage
from inference.translation.events import (
    ArgumentsDelta,
    CallBegun,
    Ended,
    Event,
    Failed,
    ReasoningDelta,
    RefusalDelta,
    Reported,
    Served,
    TextDelta,
)
from inference.translation.responses.answer_writer import status_of, write_response, write_usage
from inference.translation.responses.open_items import (
    REASONING,
    REFUSAL,
    SUMMARY,
    TEXT,
    Events,
    Kind,
    OpenFunctionCall,
    OpenParts,
)


class StreamWriter:
    """Writes one stream: `begin`, then `write` for each event, then `finish`, or `fail` in its place.

    `echo` has the members of the response that repeat the request's, or its defaults. An item stays open until another
    one starts, as in the vendor's streams. `service_tier` is the reported tier.
    """

    def __init__(self, head: Head, echo: Mapping[str, Any]) -> None:
        self._head = head
        self._echo = echo
        self._sequence = 0
        self._open: OpenParts | OpenFunctionCall | None = None
        self._output: Events = []
        self._end: End | None = None
        self._usage: Usage | None = None
        self.service_tier: Any = None
        self._writers: dict[type, Callable[[Any], Events]] = {
            TextDelta: lambda event: self._add(TEXT, event.text, event.logprobs),
            RefusalDelta: lambda event: self._add(REFUSAL, event.text),
            ReasoningDelta: lambda event: self._add(SUMMARY if event.is_summary else REASONING, event.text),
            CallBegun: self._begin_call,
            ArgumentsDelta: self._add_arguments,
            Ended: self._note_end,
            Reported: self._note_usage,
            Served: self._note_tier,
            Failed: lambda event: [],
        }

    @property
    def usage(self) -> dict[str, Any] | None:
        """Return the reported usage in this format."""
        return write_usage(self._usage)

    def begin(self) -> Events:
        """Write the two events that open the stream."""
        response = self._response(None)
        kinds = ("response.created", "response.in_progress")
        return self._numbered([{"type": kind, "response": response} for kind in kinds])

    def write(self, event: Event) -> Events:
        """Write an event. Ends and usage are written by `finish`. Raises MalformedAnswer if it cannot be written."""
        return self._numbered(self._writers[type(event)](event))

    def repeat(self, text: str, count: int) -> int:
        """Skip a text that `count` deltas contain, rendered like the one before; return the number of the first."""
        assert isinstance(self._open, OpenParts)
        self._open.repeat(text)
        self._sequence += count
        return self._sequence - count

    def finish(self) -> Events:
        """Write the ends of the open item and of the response."""
        end = self._end or End.DONE
        closing = self._close(status_of(end))
        response = self._response(end)
        return self._numbered([*closing, {"type": f"response.{response['status']}", "response": response}])

    def fail(self, code: str, message: str) -> Events:
        """Write that the response failed, with its complete items."""
        response = {**self._response(None), "status": "failed", "error": {"code": code, "message": message}}
        return self._numbered([{"type": "response.failed", "response": response}])

    def _add(self, kind: Kind, text: str, logprobs: Any = None) -> Events:
        opened = self._open
        if isinstance(opened, OpenParts) and opened.kind == kind.item:
            return opened.add(kind, text, logprobs)
        item = OpenParts(kind, self._head, len(self._output) + (opened is not None))
        return [*self._begin(item), *item.add(kind, text, logprobs)]

    def _begin_call(self, event: CallBegun) -> Events:
        return self._begin(
            OpenFunctionCall(event.name, event.index, self._head, len(self._output) + (self._open is not None))
        )

    def _add_arguments(self, event: ArgumentsDelta) -> Events:
        if isinstance(self._open, OpenFunctionCall) and self._open.call == event.index:
            return self._open.add(event.text)
        raise MalformedAnswer("arguments of a call that is not the latest")

    def _begin(self, item: OpenParts | OpenFunctionCall) -> Events:
        closing = self._close("completed")
        self._open = item
        return [*closing, *item.begin()]

    def _close(self, status: str) -> Events:
        if self._open is None:
            return []
        events, item = self._open.end(status)
        self._output.append(item)
        self._open = None
        return events

    def _note_end(self, event: Ended) -> Events:
        self._end = event.end
        return []

    def _note_usage(self, event: Reported) -> Events:
        self._usage = event.usage
        return []

    def _note_tier(self, event: Served) -> Events:
        self.service_tier = event.service_tier
        return []

    def _response(self, end: End | None) -> dict[str, Any]:
        return write_response(self._head, self._echo, self._output.copy(), end, self._usage, self.service_tier)

    def _numbered(self, events: Events) -> Events:
        for event in events:
            event["sequence_number"] = self._sequence
            self._sequence += 1
        return events
