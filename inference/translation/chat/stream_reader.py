"""Reads the chunks of a streamed chat completion."""

from collections.abc import Mapping
from typing import Any

from inference.translation.answer import MalformedAnswer
from inference.translation.chat.answer_reader import read_end, read_logprobs, read_reasoning, read_usage, text_of
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


class StreamReader:
    """Reads one stream, chunk by chunk. `is_complete` is True once its end was received."""

    def __init__(self) -> None:
        self.is_complete = False
        self._calls: dict[int, tuple[int, Any]] = {}
        self._called = 0
        self._service_tier: Any = None

    def read(self, chunk: Mapping[str, Any]) -> list[Event]:
        """Return the events in a chunk. Raises MalformedAnswer if it is invalid."""
        if chunk.get("error") or chunk.get("object") == "error":
            return [_failure(chunk.get("error") or chunk)]
        usage, choices = chunk.get("usage"), chunk.get("choices")
        events: list[Event] = []
        if not (choices is None and usage):
            if not isinstance(choices, list):
                raise MalformedAnswer("no choices")
            if choices:
                self._read_choice(choices[0] if len(choices) == 1 else None, events)
        if usage is not None and (counted := read_usage(usage)):
            events.append(Reported(counted))
        tier = chunk.get("service_tier")
        if tier is not None and tier != self._service_tier:
            self._service_tier = tier
            events.append(Served(tier))
        return events

    def done(self) -> None:
        """Record the end of the stream, which this format signals by `[DONE]` in place of a chunk."""
        self.is_complete = True

    def _read_choice(self, choice: Any, events: list[Event]) -> None:
        if not isinstance(choice, dict) or choice.get("index", 0) != 0:
            raise MalformedAnswer("not one choice")
        delta = choice.get("delta")
        if isinstance(delta, dict):
            content = delta.get("content")
            if content and isinstance(content, str):
                events.append(TextDelta(content, read_logprobs(choice) if choice.get("logprobs") else None))
            if not events or len(delta) > 1:
                self._read_others(delta, events)
        if choice.get("finish_reason") is not None:
            events.append(Ended(read_end(choice)))

    def _read_others(self, delta: Mapping[str, Any], events: list[Event]) -> None:
        """Read members that are less frequent than text. Reasoning precedes text if a chunk has both."""
        text_of(delta, "content")
        if thought := read_reasoning(delta):
            events.insert(0, ReasoningDelta(thought))
        if refusal := text_of(delta, "refusal"):
            events.append(RefusalDelta(refusal))
        calls = delta.get("tool_calls")
        if not (calls is None or isinstance(calls, list)):
            raise MalformedAnswer("tool_calls is not a list")
        for position, call in enumerate(calls or ()):
            self._read_call(call, position, events)

    def _read_call(self, call: Any, position: int, events: list[Event]) -> None:
        function = call.get("function") if isinstance(call, dict) else None
        named = call.get("index", position) if isinstance(function, dict) else None
        if not isinstance(function, dict) or type(named) is not int:
            raise MalformedAnswer("a tool call that calls no function")
        index, call_id = self._calls.get(named, (None, None))
        name = function.get("name")
        if index is None or (name and call.get("id") not in (None, "", call_id)):  # some send index 0 for all calls
            if not isinstance(name, str):
                raise MalformedAnswer("a tool call without the name of its function")
            index, self._called = self._called, self._called + 1
            self._calls[named] = index, call.get("id")
            events.append(CallBegun(index, name))
        if arguments := text_of(function, "arguments"):
            events.append(ArgumentsDelta(index, arguments))


def _failure(error: Any) -> Failed:
    if not isinstance(error, Mapping):
        return Failed(str(error))
    names = (error.get("type"), error.get("code"))
    return Failed(f"{names[0]} {names[1]} {error.get('message')}", names)
