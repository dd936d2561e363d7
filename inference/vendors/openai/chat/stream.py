"""The event stream of a chat completion."""

from collections.abc import Mapping
from typing import Any

import orjson

from gateway.core.outbound.response import Response
from inference.adapters.errors import broken_by_event
from inference.adapters.exchange import NotJSONError, parse_object
from inference.adapters.http_endpoint import replace_upstream_names
from inference.adapters.sse import event_bytes
from inference.adapters.streams import EventStream
from inference.adapters.templates import CHAT, Run, Templates
from inference.interface.answer import Chunk
from inference.interface.upstream import Attempt
from inference.vendors.openai.chat.ids import rename_audio, rename_calls

_DONE = b"[DONE]"
_ENVELOPE = {"id", "object", "created", "model", "choices", "service_tier", "obfuscation"}
"""The members that remain in the usage chunk that we requested after its usage is removed."""

BASE64_CHARACTERS_PER_TOKEN = 3200
"""Streams carry 16-bit samples at 24 kHz, and the vendor counts a token per 50 ms of a model's audio: 2,400 bytes."""

_TEXTS = ("content", "refusal", "reasoning_content", "reasoning")


class ChatStream(EventStream):
    """Forwards `chat.completion.chunk` events under our id and alias, until `[DONE]`; reports those that end a choice."""

    def __init__(self, attempt: Attempt[Any], response: Response) -> None:
        super().__init__(attempt, response)
        self.templates: Templates = Templates(CHAT, CHAT, _written)

    def repeated(self, run: Run) -> Chunk:
        """Rewrite chunks that contain only text."""
        return Chunk(run.written(), run.deltas, run.size_bytes, service_tier=run.template.event.get("service_tier"))

    def translate(self, data: bytes) -> Chunk | None:
        """Rewrite one chunk. Return None at `[DONE]`. The usage is removed if the client did not request it."""
        if data == _DONE:
            return None
        event = parse_object(data)
        if event.get("error") or event.get("object") == "error":
            raise broken_by_event(self._attempt, event)
        usage, tier = _usage(event), event.get("service_tier")
        choices = [] if usage and "choices" not in event else _choices(event)
        replace_upstream_names(self._attempt, event)
        deltas, size, spoken = _delivered(self._attempt.call.public_id, choices)
        ends = (event,) if any(choice.get("finish_reason") for choice in choices) else ()
        if not self._attempt.request.params.show_usage and "usage" in event:
            del event["usage"]
            if not choices and event.keys() <= _ENVELOPE:
                return Chunk(b"", usage=usage, service_tier=tier)
        if deltas == len(choices) == 1 and usage is None and not ends:
            self.plain = event
        return Chunk(_written(event), deltas, size, spoken, usage, ends, tier)


def _written(event: Mapping[str, Any]) -> bytes:
    return event_bytes(orjson.dumps(event))


def _usage(event: Mapping[str, Any]) -> Mapping[str, Any] | None:
    usage = event.get("usage")
    if usage is None or isinstance(usage, dict):
        return usage
    raise NotJSONError("usage is not an object")


def _choices(event: Mapping[str, Any]) -> list[dict[str, Any]]:
    choices = event.get("choices")
    if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
        raise NotJSONError("no choices")
    return choices


def _delivered(public_id: str, choices: list[dict[str, Any]]) -> tuple[int, int, int]:
    """Count the choices that carry text, its UTF-8 bytes and the audio tokens, and replace the upstream's ids."""
    deltas = size = spoken = 0
    for choice in choices:
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            continue
        carried = _bytes_of(delta)
        if "tool_calls" in delta:
            rename_calls(public_id, choice.get("index", 0), delta)
            carried += _bytes_of_calls(delta["tool_calls"])
        if "audio" in delta:
            rename_audio(public_id, choice.get("index", 0), delta)
            carried += len(_transcript_of(delta).encode())
            spoken += _tokens_of_audio(delta)
        size += carried
        deltas += carried > 0
    return deltas, size, spoken


def _bytes_of(delta: Mapping[str, Any]) -> int:
    size = 0
    for name in _TEXTS:
        text = delta.get(name)
        if isinstance(text, str):
            size += len(text.encode())
    return size


def _bytes_of_calls(calls: Any) -> int:
    functions = [call.get("function") for call in calls or () if isinstance(call, dict)]
    texts = [
        function.get(name) for function in functions if isinstance(function, dict) for name in ("name", "arguments")
    ]
    return sum(len(text.encode()) for text in texts if isinstance(text, str))


def _tokens_of_audio(delta: Mapping[str, Any]) -> int:
    """Estimate the tokens of the audio in a delta."""
    audio = delta.get("audio")
    data = audio.get("data") if isinstance(audio, dict) else None
    return -(-len(data) // BASE64_CHARACTERS_PER_TOKEN) if isinstance(data, str) else 0


def _transcript_of(delta: Mapping[str, Any]) -> str:
    """Return the transcript of the audio in a delta."""
    audio = delta.get("audio")
    text = audio.get("transcript") if isinstance(audio, dict) else None
    return text if isinstance(text, str) else ""
