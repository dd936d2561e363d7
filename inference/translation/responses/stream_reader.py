"""Reads the typed events of a streamed response."""

from collections.abc import Callable, Mapping
from typing import Any

from inference.translation import events
from inference.translation.answer import MalformedAnswer
from inference.translation.responses.answer_reader import read_end, read_usage

_OUTPUT = ("message", "function_call", "reasoning")


class StreamReader:
    """Reads one stream, event by event. `is_complete` is True once its last event was read.

    Content that other events repeat, or that other formats cannot express, yields no events.
    """

    def __init__(self) -> None:
        self.is_complete = False
        self._calls: dict[int, int] = {}
        self._argued: set[int] = set()
        self._readers: dict[str, Callable[[Mapping[str, Any]], list[events.Event]]] = {
            "response.created": _tier,
            "response.output_text.delta": _text,
            "response.refusal.delta": lambda event: [events.RefusalDelta(_delta(event))],
            "response.reasoning_text.delta": lambda event: [events.ReasoningDelta(_delta(event))],
            "response.reasoning_summary_text.delta": lambda event: [
                events.ReasoningDelta(_delta(event), is_summary=True)
            ],
            "response.output_item.added": self._begin,
            "response.function_call_arguments.delta": self._arguments,
            "response.function_call_arguments.done": self._whole_arguments,
            "response.completed": self._end,
            "response.incomplete": self._end,
            "response.failed": self._fail,
            "error": self._fail,
        }

    def read(self, event: Mapping[str, Any]) -> list[events.Event]:
        """Return the events in an upstream event. Raises MalformedAnswer if it is not a response's."""
        kind = event.get("type")
        if event.get("error"):
            return self._fail(event)
        if not isinstance(kind, str):
            raise MalformedAnswer("an event without a type")
        read = self._readers.get(kind)
        return read(event) if read else []

    def done(self) -> None:
        """Raise MalformedAnswer: this format ends with an event, not with a marker in its place."""
        raise MalformedAnswer("the stream ended without a last event")

    def _begin(self, event: Mapping[str, Any]) -> list[events.Event]:
        item = event.get("item")
        kind = item.get("type") if isinstance(item, Mapping) else None
        if kind not in _OUTPUT or not isinstance(item, Mapping):
            raise MalformedAnswer("an output item of an unrequested type")
        if kind != "function_call":
            return []
        name, arguments = item.get("name"), item.get("arguments") or ""
        if not isinstance(name, str) or not isinstance(arguments, str):
            raise MalformedAnswer("a function call without the name of its function")
        index = self._calls[_place(event)] = len(self._calls)
        return [events.CallBegun(index, name), *self._add_arguments(index, arguments)]

    def _arguments(self, event: Mapping[str, Any]) -> list[events.Event]:
        return self._add_arguments(self._call(event), _delta(event))

    def _whole_arguments(self, event: Mapping[str, Any]) -> list[events.Event]:
        """Read the arguments of a call whose provider does not stream them."""
        index, arguments = self._call(event), event.get("arguments")
        return [] if index in self._argued or not isinstance(arguments, str) else self._add_arguments(index, arguments)

    def _add_arguments(self, index: int, arguments: str) -> list[events.Event]:
        if not arguments:
            return []
        self._argued.add(index)
        return [events.ArgumentsDelta(index, arguments)]

    def _call(self, event: Mapping[str, Any]) -> int:
        index = self._calls.get(_place(event))
        if index is None:
            raise MalformedAnswer("arguments of no call")
        return index

    def _end(self, event: Mapping[str, Any]) -> list[events.Event]:
        response = event.get("response")
        if not isinstance(response, Mapping):
            raise MalformedAnswer("an end without its response")
        self.is_complete = True
        usage = read_usage(response.get("usage"))
        return [*_tier(event), events.Ended(read_end(response)), *([events.Reported(usage)] if usage else [])]

    def _fail(self, event: Mapping[str, Any]) -> list[events.Event]:
        response = event.get("response")
        error = response.get("error") if isinstance(response, Mapping) else event.get("error") or event
        if not isinstance(error, Mapping):
            return [events.Failed(str(error))]
        return [events.Failed(f"{error.get('code')} {error.get('message')}", (error.get("code"),))]


def _place(event: Mapping[str, Any]) -> int:
    index = event.get("output_index")
    if type(index) is not int:
        raise MalformedAnswer("an item without its place")
    return index


def _tier(event: Mapping[str, Any]) -> list[events.Event]:
    response = event.get("response")
    tier = response.get("service_tier") if isinstance(response, Mapping) else None
    return [] if tier is None else [events.Served(tier)]


def _text(event: Mapping[str, Any]) -> list[events.Event]:
    return [events.TextDelta(_delta(event), event.get("logprobs") or None)]


def _delta(event: Mapping[str, Any]) -> str:
    delta = event.get("delta")
    if not isinstance(delta, str):
        raise MalformedAnswer("a delta that is not a string")
    return delta
