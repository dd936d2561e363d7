"""The event stream of a response."""

from collections.abc import Mapping
from typing import Any

from inference.adapters.exchange import NotJSONError
from inference.adapters.streams import LastEventStream
from inference.adapters.templates import RESPONSES, Run, Templates
from inference.interface.answer import Chunk
from inference.interface.upstream import Attempt
from inference.routes.responses.events import OUTPUT_DELTAS, TERMINAL, render
from inference.vendors.openai.responses.names import check_event, convert_item, convert_response


class ResponseStream(LastEventStream):
    """Forwards the vendor's events under our ids and numbers."""

    def __init__(self, attempt: Attempt[Any], response: Any) -> None:
        super().__init__(attempt, response)
        self._number = 0
        self._item_ids: dict[int, str] = {}
        self.templates: Templates = Templates(RESPONSES, RESPONSES, render)

    def repeated(self, run: Run) -> Chunk:
        """Rewrite consecutive deltas, and report them as one event."""
        number = self._numbered(run.deltas)
        return Chunk(run.written(number), run.deltas, run.size_bytes, events=(run.event(number),))

    def rewrite(self, event: dict[str, Any]) -> Chunk:
        kind = event.get("type")
        if not isinstance(kind, str) or "\n" in kind:
            raise NotJSONError("an event without a type")
        check_event(event)
        self._make_ours(event)
        tier = event["response"].get("service_tier") if "response" in event else None
        if kind in TERMINAL:
            self._ended = True
            return Chunk(b"", usage=_usage(event["response"]), events=(event,), service_tier=tier)
        delta = event.get("delta") if kind in OUTPUT_DELTAS else None
        size = len(delta.encode()) if isinstance(delta, str) else 0
        if size:
            self.plain = event
        return Chunk(render(event), int(size > 0), size, events=(event,), service_tier=tier)

    def _numbered(self, count: int) -> int:
        """Take `count` sequence numbers and return the first."""
        self._number += count
        return self._number - count

    def _make_ours(self, event: dict[str, Any]) -> None:
        event["sequence_number"] = self._numbered(1)
        if "response" in event:
            convert_response(self._attempt, event["response"])
        index = event.get("output_index")
        if "item" in event:
            if type(index) is not int:
                raise NotJSONError("an item without its index")
            self.templates.forget()  # they contain the ids of items
            self._item_ids[index] = convert_item(self._attempt, index, event["item"])
        if "item_id" in event:
            event["item_id"] = self._item_ids.get(index) if type(index) is int else None


def _usage(response: Mapping[str, Any]) -> Mapping[str, Any] | None:
    usage = response.get("usage")
    if usage is None or isinstance(usage, dict):
        return usage
    raise NotJSONError("usage is not an object")
