"""The item of a streamed response that is being written, and its events. `StreamWriter` numbers them."""

from dataclasses import dataclass
from typing import Any

from inference.translation.answer import Head
from inference.translation.items import Logprobs, Reasoning
from inference.translation.responses import parts

Events = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of part: its item's kind, the names of its events, and of the members with its index and text."""

    item: str
    part: str
    events: str
    part_events: str = "response.content_part"
    index: str = "content_index"
    text: str = "text"


TEXT = Kind("message", "output_text", "response.output_text")
REFUSAL = Kind("message", "refusal", "response.refusal", text="refusal")
REASONING = Kind("reasoning", "reasoning_text", "response.reasoning_text")
SUMMARY = Kind(
    "reasoning",
    "summary_text",
    "response.reasoning_summary_text",
    part_events="response.reasoning_summary_part",
    index="summary_index",
)


class OpenPart:
    """A part that is being written."""

    def __init__(self, kind: Kind, item_id: str, output_index: int, index: int) -> None:
        self.kind = kind
        self._place = {"item_id": item_id, "output_index": output_index, kind.index: index}
        self._delta = {"type": f"{kind.events}.delta", **self._place}
        self._pieces: list[str] = []
        self._logprobs: list[Any] = []

    def begin(self) -> dict[str, Any]:
        """Write the start of an empty part."""
        return {"type": f"{self.kind.part_events}.added", **self._place, "part": self._part("")}

    def add(self, text: str, logprobs: Logprobs | None) -> dict[str, Any]:
        """Write a piece of it."""
        self._pieces.append(text)
        if self.kind is not TEXT:
            return {**self._delta, "delta": text}
        if logprobs:
            self._logprobs += logprobs
        return {**self._delta, "delta": text, "logprobs": logprobs or []}

    def repeat(self, text: str) -> None:
        """Record a piece that was already written."""
        self._pieces.append(text)

    def end(self) -> tuple[Events, dict[str, Any]]:
        """Write its end; return the events and the part."""
        text = "".join(self._pieces)
        part = self._part(text)
        logprobs = {"logprobs": self._logprobs} if self.kind is TEXT else {}
        done = {"type": f"{self.kind.events}.done", **self._place, self.kind.text: text, **logprobs}
        return [done, {"type": f"{self.kind.part_events}.done", **self._place, "part": part}], part

    def _part(self, text: str) -> dict[str, Any]:
        if self.kind is TEXT:
            return parts.output_text(text, self._logprobs)
        return {"type": self.kind.part, self.kind.text: text}


class OpenParts:
    """A message or a reasoning item that is being written, part by part."""

    def __init__(self, kind: Kind, head: Head, index: int) -> None:
        self.kind = kind.item
        self._head = head
        self._index = index
        self._part: OpenPart | None = None
        self._done: list[tuple[Kind, dict[str, Any]]] = []

    def begin(self) -> Events:
        """Write its start."""
        return [_added(self._index, self._item("in_progress"))]

    def add(self, kind: Kind, text: str, logprobs: Logprobs | None = None) -> Events:
        """Write a piece of it, in a new part if the last one was of another kind."""
        part = self._part
        if part is not None and part.kind is kind:
            return [part.add(text, logprobs)]
        events = self._end_part()
        same = sum(done.index == kind.index for done, _ in self._done)
        self._part = part = OpenPart(kind, self._item("")["id"], self._index, same)
        return [*events, part.begin(), part.add(text, logprobs)]

    def repeat(self, text: str) -> None:
        """Record a piece of its last part that was already written."""
        assert self._part is not None
        self._part.repeat(text)

    def end(self, status: str) -> tuple[Events, dict[str, Any]]:
        """Write its end, complete or not; return the events and the item."""
        events = self._end_part()
        item = self._item(status)
        return [*events, _done(self._index, item)], item

    def _end_part(self) -> Events:
        if self._part is None:
            return []
        events, part = self._part.end()
        self._done.append((self._part.kind, part))
        self._part = None
        return events

    def _item(self, status: str) -> dict[str, Any]:
        if self.kind == "message":
            return parts.message(self._head, self._index, status, [part for _, part in self._done])
        texts = [part["text"] for kind, part in self._done if kind is REASONING]
        summaries = [part["text"] for kind, part in self._done if kind is SUMMARY]
        return parts.reasoning(self._head, self._index, status, Reasoning("".join(texts), tuple(summaries)))


class OpenFunctionCall:
    """A function call that is being written. `call` counts an answer's calls from 0."""

    kind = "function_call"

    def __init__(self, name: str, call: int, head: Head, index: int) -> None:
        self.call = call
        self._name = name
        self._head = head
        self._index = index
        self._pieces: list[str] = []
        self._place = {"item_id": self._item("in_progress")["id"], "output_index": index}

    def begin(self) -> Events:
        """Write its start, without arguments."""
        return [_added(self._index, self._item("in_progress"))]

    def add(self, text: str) -> Events:
        """Write a piece of its arguments."""
        self._pieces.append(text)
        return [{"type": "response.function_call_arguments.delta", **self._place, "delta": text}]

    def end(self, status: str) -> tuple[Events, dict[str, Any]]:
        """Write its end, complete or not; return the events and the item."""
        item = self._item(status)
        called = {"name": self._name, "arguments": item["arguments"]}
        done = {"type": "response.function_call_arguments.done", **self._place, **called}
        return [done, _done(self._index, item)], item

    def _item(self, status: str) -> dict[str, Any]:
        call_id = self._head.call_id(self.call)
        return parts.call(self._head, self._index, status, call_id, self._name, "".join(self._pieces))


def _added(index: int, item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def _done(index: int, item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "response.output_item.done", "output_index": index, "item": item}
