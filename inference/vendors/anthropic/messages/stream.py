"""The event stream of a message."""

from collections.abc import Mapping
from typing import Any

from gateway.core.outbound.response import Response
from inference.adapters.error_codes import OVERLOAD_CODES
from inference.adapters.errors import OverloadedAtOnce, broken_by_event
from inference.adapters.exchange import NotJSONError, parse_object
from inference.adapters.http_endpoint import replace_upstream_names
from inference.adapters.streams import EventStream
from inference.adapters.templates import MESSAGES, Run, Templates
from inference.interface.answer import Chunk
from inference.interface.upstream import Attempt
from inference.routes.messages.events import output_bytes, render
from inference.vendors.anthropic.messages.ids import rename_call


class MessageStream(EventStream):
    """Forwards the vendor's events under our id and alias, until `message_stop`, which is held back.

    The counts of `message_start` and `message_delta` are cumulative. They are the stream's usage once the message has a reason to
    stop; before that, its output is not counted yet.
    """

    def __init__(self, attempt: Attempt[Any], response: Response) -> None:
        super().__init__(attempt, response)
        self._usage: dict[str, Any] = {}
        self._has_begun = False
        self.templates: Templates = Templates(MESSAGES, MESSAGES, render)

    def repeated(self, run: Run) -> Chunk:
        """Rewrite deltas that contain only text."""
        return Chunk(run.written(), run.deltas, run.size_bytes)

    def translate(self, data: bytes) -> Chunk | None:
        """Rewrite one event. Return None at `message_stop`."""
        event = parse_object(data)
        kind = event.get("type")
        if not isinstance(kind, str) or "\n" in kind:
            raise NotJSONError("an event without a type")
        if kind == "error":
            raise self._broken_by(event)
        if kind == "message_stop":
            return None
        is_first, self._has_begun = not self._has_begun, self._has_begun or kind != "ping"
        if kind == "content_block_delta":
            return self._delta(event)
        if kind in ("ping", "content_block_stop"):
            return Chunk(render(event), events=(event,))
        if kind == "message_start":
            return self._begin(event, is_first=is_first)
        if kind == "content_block_start":
            return self._begin_block(event)
        return self._end(event) if kind == "message_delta" else Chunk(render(event))

    def _broken_by(self, event: Mapping[str, Any]) -> Exception:
        broken = broken_by_event(self._attempt, event)
        error = event.get("error")
        named = error.get("type") if isinstance(error, Mapping) else None
        return OverloadedAtOnce(broken) if named in OVERLOAD_CODES and not self._has_begun else broken

    def _begin(self, event: dict[str, Any], *, is_first: bool) -> Chunk:
        message = event.get("message")
        if not is_first or not isinstance(message, dict):
            raise NotJSONError("not one message")
        self._count(message.get("usage"))
        message.setdefault("id", self._attempt.call.public_id)
        message.pop("container", None)
        replace_upstream_names(self._attempt, message)
        return Chunk(render(event), events=(event,))

    def _begin_block(self, event: dict[str, Any]) -> Chunk:
        block = event.get("content_block")
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            raise NotJSONError("a block without a type")
        rename_call(self._attempt.call.public_id, event.get("index"), block)
        self.templates.forget()  # they contain the indices of blocks
        texts = [text for name in ("text", "thinking") if isinstance(text := block.get(name), str)]
        size = sum(len(text.encode()) for text in texts)
        return Chunk(render(event), int(size > 0), size, events=(event,))

    def _delta(self, event: dict[str, Any]) -> Chunk:
        size = output_bytes(event)
        if size:
            self.plain = event
        return Chunk(render(event), int(size > 0), size)

    def _end(self, event: dict[str, Any]) -> Chunk:
        self._count(event.get("usage"))
        delta = event.get("delta")
        has_reason = isinstance(delta, dict) and delta.get("stop_reason") is not None
        return Chunk(render(event), usage=dict(self._usage) if has_reason else None, events=(event,))

    def _count(self, usage: Any) -> None:
        if usage is None:
            return
        if not isinstance(usage, dict):
            raise NotJSONError("usage is not an object")
        self._usage |= {name: count for name, count in usage.items() if count is not None}
