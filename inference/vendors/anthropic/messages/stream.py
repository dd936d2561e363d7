"""The event stream of a message."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from gateway.core.outbound.response import Response
from inference.adapters.errors import broken_by_event
from inference.adapters.exchange import NotJSONError, parse_object
from inference.adapters.http_endpoint import remove_costs, replace_upstream_names
from inference.adapters.streams import EventStream
from inference.adapters.templates import MESSAGES, Run, Templates
from inference.interface.answer import Chunk
from inference.interface.upstream import Attempt
from inference.routes.messages.events import output_bytes, render
from inference.translation.messages.usage import NOTHING_COUNTED
from inference.vendors.anthropic.messages.blocks import check_delta, read_block
from inference.vendors.anthropic.messages.order import EventOrder

_KIND = re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII)


class MessageStream(EventStream):
    """Forwards the vendor's events under our id and alias, until `message_stop`, which is held back.

    The counts of `message_start` and `message_delta` are cumulative, but only the latter counts the output. They are the stream's
    usage once the message has a reason to stop, or at its end.
    """

    def __init__(self, attempt: Attempt[Any], response: Response) -> None:
        super().__init__(attempt, response)
        self._usage: dict[str, Any] = {}
        self._has_reason = False
        self._order = EventOrder()
        self.templates: Templates = Templates(MESSAGES, MESSAGES, render)
        self._readers: Mapping[str, Callable[[dict[str, Any]], Chunk | None]] = {
            "content_block_delta": self._delta,
            "content_block_start": self._begin_block,
            "content_block_stop": self._end_block,
            "message_start": self._begin,
            "message_delta": self._end,
            "message_stop": self._stop,
        }

    def repeated(self, run: Run) -> Chunk:
        """Rewrite deltas that contain only text."""
        return Chunk(run.written(), run.deltas, run.size_bytes)

    def translate(self, data: bytes) -> Chunk | None:
        """Rewrite one event. Return None at `message_stop`."""
        event = parse_object(data)
        kind = event.get("type")
        if not isinstance(kind, str) or not _KIND.fullmatch(kind):
            raise NotJSONError("an event without a type")
        if kind == "error":
            raise broken_by_event(self._attempt, event, is_first=not self._order.has_begun)
        self._order.check(kind, event)
        read = self._readers.get(kind)
        return read(event) if read else Chunk(render(event))

    def _begin(self, event: dict[str, Any]) -> Chunk:
        message = event.get("message")
        if not isinstance(message, dict) or message.setdefault("content", []) != []:
            raise NotJSONError("not the beginning of a message")
        self._count(message.get("usage"), without="output_tokens")
        if message.get("usage") is None:
            message["usage"] = dict(NOTHING_COUNTED)
        message.setdefault("id", self._attempt.call.public_id)
        message.pop("container", None)
        replace_upstream_names(self._attempt, message)
        return Chunk(render(event), events=(event,))

    def _begin_block(self, event: dict[str, Any]) -> Chunk:
        block = read_block(self._attempt.call.public_id, event["index"], event.get("content_block"))
        self.templates.forget()  # they contain the indices of blocks
        texts = [text for name in ("text", "thinking") if isinstance(text := block.get(name), str)]
        size = sum(len(text.encode()) for text in texts)
        return Chunk(render(event), int(size > 0), size, events=(event,))

    def _delta(self, event: dict[str, Any]) -> Chunk:
        check_delta(event.get("delta"))
        size = output_bytes(event)
        if size:
            self.plain = event
        return Chunk(render(event), int(size > 0), size)

    def _end_block(self, event: dict[str, Any]) -> Chunk:
        self.templates.forget()
        return Chunk(render(event), events=(event,))

    def _end(self, event: dict[str, Any]) -> Chunk:
        delta = event.get("delta")
        if not isinstance(delta, dict):
            raise NotJSONError("message_delta without a delta")
        delta.pop("container", None)
        self._count(event.get("usage"))
        if event.get("usage") is None:
            event["usage"] = {"output_tokens": 0}
        remove_costs(event["usage"])
        self._has_reason = self._has_reason or delta.get("stop_reason") is not None
        return Chunk(render(event), usage=dict(self._usage) if self._has_reason else None, events=(event,))

    def _stop(self, event: dict[str, Any]) -> Chunk | None:
        if self._has_reason:
            return None
        self._ended = True
        return Chunk(b"", usage=dict(self._usage))

    def _count(self, usage: Any, *, without: str = "") -> None:
        if usage is None:
            return
        if not isinstance(usage, dict):
            raise NotJSONError("usage is not an object")
        self._usage |= {name: count for name, count in usage.items() if count is not None and name != without}
