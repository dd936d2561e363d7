"""The order of a message's events, on which the vendor's SDKs rely."""

from collections.abc import Mapping
from typing import Any

from inference.adapters.exchange import NotJSONError


class EventOrder:
    """Checks one stream's events: the message begins once and before all else but pings, its blocks are numbered from 0, deltas and
    ends belong to open blocks, and all blocks are closed before the message ends."""

    def __init__(self) -> None:
        self.has_begun = False
        self._begun_blocks = 0
        self._open: set[int] = set()

    def check(self, kind: str, event: Mapping[str, Any]) -> None:
        """Record an event. Raises NotJSONError if it is out of order."""
        if kind == "ping":
            return
        if self.has_begun is (kind == "message_start"):
            raise NotJSONError("not one message")
        match kind:
            case "message_start":
                self.has_begun = True
            case "content_block_start":
                self._begin(event.get("index"))
            case "content_block_delta" | "content_block_stop":
                self._within(event.get("index"), kind)
            case "message_stop" if self._open:
                raise NotJSONError("a message with an open block")

    def _begin(self, index: Any) -> None:
        if type(index) is not int or index != self._begun_blocks:
            raise NotJSONError("a block out of order")
        self._begun_blocks += 1
        self._open.add(index)

    def _within(self, index: Any, kind: str) -> None:
        if type(index) is not int or index not in self._open:
            raise NotJSONError("an event of no open block")
        if kind == "content_block_stop":
            self._open.remove(index)
