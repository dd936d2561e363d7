"""Tracks a stream's content so far, so that it can be ended and stored at any point."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from inference.routes.responses.events import CALLS, PARTS, TERMINAL, Event

Response = Mapping[str, Any]


class Progress:
    """The state of one stream. `final` is the response in its last event, None before that.

    `for_client` converts a finished response for the client. `ours` are the gateway's members of every response. Deltas are
    joined only on demand.
    """

    def __init__(self, ours: Response, for_client: Callable[[Response], Response]) -> None:
        self._for_client = for_client
        self._response: Response = ours
        self._items: dict[int, dict[str, Any]] = {}
        self._done: set[int] = set()
        self._texts: dict[tuple[int, int | None], list[str]] = {}
        self.numbered = 0
        self.final: Response | None = None
        self.last: Event | None = None
        self.ended_here = False

    def add(self, event: Mapping[str, Any]) -> None:
        """Record one more event."""
        self.numbered = event["sequence_number"] + 1
        kind, index = event["type"], event.get("output_index")
        if kind.endswith(".delta"):  # nearly all of them
            self._add_delta(event, index)
        elif kind in TERMINAL:
            self.final = self._for_client(event["response"])
            self.last = {**event, "response": self.final}
        elif kind == "response.created":
            self._response = event["response"]
        elif not isinstance(index, int):
            return
        elif kind == "response.output_item.added":
            self._items[index] = event["item"]
        elif kind == "response.output_item.done":
            self._items[index] = event["item"]
            self._done.add(index)
        elif kind == "response.content_part.added":
            self._add_part(index, event)

    def end(self, public_model: str, public_id: str, **members: Any) -> Event:
        """End the stream here with one of the gateway's own statuses, and return the last event."""
        self.ended_here = True
        shell = {
            "id": public_id,
            "object": "response",
            "created_at": int(time.time()),
            "model": public_model,
            "error": None,
            "incomplete_details": None,
            "tools": [],
            "tool_choice": "auto",
            "parallel_tool_calls": True,
            "instructions": None,
            "usage": None,
        }
        self.final = self._for_client({**shell, **self._response, "usage": None, "output": self._output(), **members})
        self.last = self.number({"type": f"response.{self.final['status']}", "response": self.final})
        return self.last

    def number(self, event: Event) -> Event:
        """Number one of the gateway's own events."""
        event["sequence_number"] = self.numbered
        self.numbered += 1
        return event

    def _add_delta(self, event: Mapping[str, Any], index: Any) -> None:
        delta = event.get("delta")
        if isinstance(delta, str) and isinstance(index, int):
            self._texts.setdefault((index, event.get("content_index")), []).append(delta)

    def _add_part(self, index: int, event: Mapping[str, Any]) -> None:
        item = self._items.get(index)
        if item is not None and item.get("type") == "message":
            self._items[index] = {**item, "content": [*item.get("content", ()), event["part"]]}

    def _output(self) -> list[dict[str, Any]]:
        return [self._items[index] if index in self._done else self._unfinished(index) for index in sorted(self._items)]

    def _unfinished(self, index: int) -> dict[str, Any]:
        item = {**self._items[index], "status": "incomplete"}
        if item.get("type") in CALLS:
            member, _ = CALLS[item["type"]]
            item[member] = item.get(member, "") + self._text(index, None)
        elif item.get("type") == "message":
            item["content"] = [self._part(index, number, part) for number, part in enumerate(item.get("content", ()))]
        return item

    def _part(self, index: int, number: int, part: Mapping[str, Any]) -> dict[str, Any]:
        member = PARTS.get(part["type"])
        return {**part, member: part[member] + self._text(index, number)} if member else {**part}

    def _text(self, index: int, content_index: int | None) -> str:
        return "".join(self._texts.get((index, content_index), ()))
