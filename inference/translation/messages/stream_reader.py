"""Reads the events of a streamed message."""

from collections.abc import Callable, Mapping
from typing import Any

from inference.translation.answer import MalformedAnswer
from inference.translation.events import (
    ArgumentsDelta,
    CallBegun,
    Ended,
    Event,
    Failed,
    ReasoningDelta,
    Reported,
    Served,
    TextDelta,
)
from inference.translation.messages.answer_reader import read_end, text_of
from inference.translation.messages.usage import read_usage


class StreamReader:
    """Reads one stream, event by event. `is_complete` is True once its end was received."""

    def __init__(self) -> None:
        self.is_complete = False
        self._usage: dict[str, Any] = {}
        self._calls: dict[int, int] = {}
        self._readers: Mapping[str, Callable[[Mapping[str, Any]], list[Event]]] = {
            "content_block_delta": self._delta,
            "content_block_start": self._begin_block,
            "message_start": self._begin,
            "message_delta": self._end,
            "message_stop": self._stop,
            "error": lambda event: [_failure(event.get("error"))],
        }

    def read(self, event: Mapping[str, Any]) -> list[Event]:
        """Return the events in an event. Unknown ones say nothing. Raises MalformedAnswer if it is invalid."""
        kind = event.get("type")
        if not isinstance(kind, str):
            raise MalformedAnswer("an event without a type")
        read = self._readers.get(kind)
        return read(event) if read else []

    def done(self) -> None:
        """Raise MalformedAnswer: this format does not end with `[DONE]`."""
        raise MalformedAnswer("[DONE] in a stream of a message")

    def _begin(self, event: Mapping[str, Any]) -> list[Event]:
        message = event.get("message")
        if not isinstance(message, Mapping):
            raise MalformedAnswer("message_start without a message")
        self._count(message.get("usage"), without="output_tokens")  # only message_delta counts the output
        return []

    def _begin_block(self, event: Mapping[str, Any]) -> list[Event]:
        block = event.get("content_block")
        match block.get("type") if isinstance(block, Mapping) else None:
            case "tool_use":
                index = len(self._calls)
                self._calls[_place(event)] = index
                return [CallBegun(index, text_of(block, "name"))]  # type: ignore[arg-type]
            case "text" | "thinking" | "redacted_thinking":
                return []
        raise MalformedAnswer("a block of an unknown type")

    def _delta(self, event: Mapping[str, Any]) -> list[Event]:
        delta = event.get("delta")
        if not isinstance(delta, Mapping):
            raise MalformedAnswer("content_block_delta without a delta")
        match delta.get("type"):
            case "text_delta":
                return [TextDelta(text_of(delta, "text"))]
            case "thinking_delta":
                return [ReasoningDelta(text_of(delta, "thinking"))]
            case "input_json_delta":
                index = self._calls.get(_place(event))
                if index is None:
                    raise MalformedAnswer("arguments without a call")
                return [ArgumentsDelta(index, text_of(delta, "partial_json"))]
        return []

    def _end(self, event: Mapping[str, Any]) -> list[Event]:
        self._count(event.get("usage"))
        delta = event.get("delta")
        is_ended = isinstance(delta, Mapping) and delta.get("stop_reason") is not None
        return [Ended(read_end(delta))] if is_ended else []  # type: ignore[arg-type]

    def _stop(self, event: Mapping[str, Any]) -> list[Event]:
        self.is_complete = True
        usage, tier = read_usage(self._usage or None), self._usage.get("service_tier")
        served: list[Event] = [] if tier is None else [Served(tier)]
        return served if usage is None else [*served, Reported(usage)]

    def _count(self, usage: Any, *, without: str = "") -> None:
        if usage is None:
            return
        if not isinstance(usage, Mapping):
            raise MalformedAnswer("usage is not an object")
        self._usage |= {name: count for name, count in usage.items() if count is not None and name != without}


def _place(event: Mapping[str, Any]) -> int:
    index = event.get("index")
    if type(index) is not int:
        raise MalformedAnswer("a block without its place")
    return index


def _failure(error: Any) -> Failed:
    if not isinstance(error, Mapping):
        return Failed(str(error))
    return Failed(f"{error.get('type')} {error.get('message')}", (error.get("type"),))
