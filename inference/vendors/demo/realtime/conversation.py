"""The demo's state of a session: its settings, and its conversation as far as it is counted."""

from collections.abc import Mapping
from typing import Any

from gateway.core.contract.ids import new_id
from inference.routes.realtime.audio import BYTES_PER_SECOND, DEFAULT_FORMAT, bytes_of_base64
from inference.vendors.demo.tokens import count_tokens

Event = dict[str, Any]

TOKENS_PER_SECOND = 10
_FORMAT = {"type": DEFAULT_FORMAT, "rate": 24_000}


class Conversation:
    """A conversation: its tokens of text and audio, and the last words."""

    def __init__(self, session_id: str, model: str) -> None:
        self.session: Event = {
            "type": "realtime",
            "object": "realtime.session",
            "id": session_id,
            "model": model,
            "output_modalities": ["audio"],
            "instructions": "",
            "tools": [],
            "max_output_tokens": "inf",
            "audio": {
                "input": {"format": _FORMAT, "turn_detection": None, "transcription": None},
                "output": {"format": _FORMAT, "voice": "demo", "speed": 1.0},
            },
        }
        self.text_tokens = self.audio_tokens = 0
        self.last_text = ""
        self.last_seconds = 0.0
        self._buffer_bytes = 0
        self._last_item: str | None = None

    def opened(self) -> Event:
        """Return the first event."""
        return event_of("session.created", session=self.session)

    def refusal(self, code: str) -> Event:
        """Return an error event."""
        return event_of("error", error={"type": "invalid_request_error", "code": code, "message": code, "param": None})

    def take(self, event: Event) -> list[Event]:
        """Return the events that follow from an event; none if it has no meaning here."""
        match event["type"]:
            case "session.update":
                self._update(event["session"])
                return [event_of("session.updated", session=self.session)]
            case "input_audio_buffer.append":
                self._buffer_bytes += bytes_of_base64(len(event["audio"]))
                return []
            case "input_audio_buffer.clear":
                self._buffer_bytes = 0
                return [event_of("input_audio_buffer.cleared")]
            case "input_audio_buffer.commit":
                return self._commit()
            case "conversation.item.create":
                return self._add(event["item"])
            case "conversation.item.delete":
                return [event_of("conversation.item.deleted", item_id=event.get("item_id"))]
        return []

    def add_output(self, text_tokens: int, audio_tokens: int) -> None:
        """Record the response."""
        self.text_tokens += text_tokens
        self.audio_tokens += audio_tokens

    def added(self, item: Event) -> list[Event]:
        """Return the events for a new item."""
        before, self._last_item = self._last_item, item["id"]
        names = ("conversation.item.added", "conversation.item.done")
        return [event_of(name, previous_item_id=before, item=item) for name in names]

    def _update(self, changes: Mapping[str, Any]) -> None:
        """Apply settings. The demo detects no pauses: turns end when the client says so."""
        audio = changes.get("audio") or {}
        merged = {part: {**self.session["audio"][part], **(audio.get(part) or {})} for part in ("input", "output")}
        merged["input"] |= {"turn_detection": None, "transcription": None}
        self.session = {**self.session, **changes, "audio": merged}

    def _commit(self) -> list[Event]:
        if not self._buffer_bytes:
            return [self.refusal("input_audio_buffer_commit_empty")]
        kind = self.session["audio"]["input"]["format"]["type"]
        self.last_seconds, self.last_text = self._buffer_bytes / BYTES_PER_SECOND[kind], ""
        self.audio_tokens += -(-self._buffer_bytes * TOKENS_PER_SECOND // BYTES_PER_SECOND[kind])
        self._buffer_bytes = 0
        content = [{"type": "input_audio", "transcript": None}]
        item = {"id": new_id("item"), "type": "message", "role": "user", "status": "completed", "content": content}
        committed = event_of("input_audio_buffer.committed", previous_item_id=self._last_item, item_id=item["id"])
        return [committed, *self.added(item)]

    def _add(self, item: Event) -> list[Event]:
        texts = [part.get("text") or part.get("transcript") or "" for part in item.get("content") or ()]
        self.last_text = " ".join([*texts, str(item.get("output") or "")]).strip()
        self.text_tokens += count_tokens(self.last_text)
        return self.added(
            {"status": "completed", "object": "realtime.item", **item, "id": item.get("id") or new_id("item")}
        )


def event_of(kind: str, **members: Any) -> Event:
    return {"type": kind, "event_id": new_id("event"), **members}
