"""The demo's response: a sentence that says what it is, with a tone as its voice."""

import asyncio
import base64
import math
import struct
from collections.abc import AsyncIterator, Mapping
from typing import Any

from gateway.core.contract.ids import new_id
from inference.vendors.demo.endpoint import TOKEN_SECONDS
from inference.vendors.demo.realtime.conversation import Conversation, Event, event_of
from inference.vendors.demo.tokens import pieces_of

SAMPLE_RATE = 24_000
TONE_SECONDS = 0.1
AUDIO_TOKENS_PER_TONE = 2
"""20 tokens per second, the vendor's count for audio output."""

_SAMPLES = int(SAMPLE_RATE * TONE_SECONDS)
_TONE = base64.b64encode(
    struct.pack(
        f"<{_SAMPLES}h",
        *(
            int(6000 * math.sin(2 * math.pi * 330 * n / SAMPLE_RATE) * math.sin(math.pi * n / _SAMPLES))
            for n in range(_SAMPLES)
        ),
    )
).decode()


class Speech:
    """One response."""

    def __init__(self, conversation: Conversation, params: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        self._conversation = conversation
        modalities = params.get("output_modalities") or conversation.session["output_modalities"]
        self._is_spoken = "audio" in modalities
        limit = params.get("max_output_tokens")
        self._limit = limit if isinstance(limit, int) else 4096
        self._pause = float(options.get("token_seconds", TOKEN_SECONDS))
        self._input = conversation.text_tokens, conversation.audio_tokens
        self.is_cancelled = False
        self._response_id, self._item_id = new_id("resp"), new_id("item")

    async def events(self) -> AsyncIterator[Event]:
        """Yield the spoken response, piece by piece."""
        yield event_of("response.created", response=self._response("in_progress"))
        part = {"type": "output_audio", "transcript": ""} if self._is_spoken else {"type": "output_text", "text": ""}
        yield self._about("response.output_item.added", item=self._item("in_progress", []))
        yield self._about("response.content_part.added", item_id=self._item_id, content_index=0, part=part)
        text = ""
        text_tokens = audio_tokens = 0
        status = "completed"
        for piece in pieces_of(self._answer()):
            cost = 1 + (AUDIO_TOKENS_PER_TONE if self._is_spoken else 0)
            if self.is_cancelled or text_tokens + audio_tokens + cost > self._limit:
                status = "cancelled" if self.is_cancelled else "incomplete"
                break
            text, text_tokens, audio_tokens = text + piece, text_tokens + 1, audio_tokens + cost - 1
            for name, delta in self._deltas(piece):
                yield self._about(name, item_id=self._item_id, content_index=0, delta=delta)
            await asyncio.sleep(self._pause)
        for event in self._end(text, status, text_tokens, audio_tokens):
            yield event

    def _answer(self) -> str:
        conversation = self._conversation
        if conversation.last_text:
            return (
                f"This is the gateway's demo backend: no model was asked. You wrote “{conversation.last_text[:160]}”."
            )
        return f"This is the gateway's demo backend: no model was asked. I heard {conversation.last_seconds:.1f} seconds of sound."

    def _deltas(self, piece: str) -> list[tuple[str, str]]:
        if not self._is_spoken:
            return [("response.output_text.delta", piece)]
        return [("response.output_audio_transcript.delta", piece), ("response.output_audio.delta", _TONE)]

    def _end(self, text: str, status: str, text_tokens: int, audio_tokens: int) -> list[Event]:
        self._conversation.add_output(text_tokens, audio_tokens)
        kind, member = ("output_audio", "transcript") if self._is_spoken else ("output_text", "text")
        item = self._item(status if status != "cancelled" else "incomplete", [{"type": kind, member: text}])
        response = self._response(status, [item]) | {"usage": self._usage(text_tokens, audio_tokens)}
        done = "response.output_audio_transcript.done" if self._is_spoken else "response.output_text.done"
        return [
            self._about(done, item_id=self._item_id, content_index=0, **{member: text}),
            self._about("response.output_item.done", item=item),
            *self._conversation.added(item),
            event_of("response.done", response=response),
        ]

    def _about(self, kind: str, **members: Any) -> Event:
        return event_of(kind, response_id=self._response_id, output_index=0, **members)

    def _item(self, status: str, content: list[Event]) -> Event:
        return {"id": self._item_id, "type": "message", "role": "assistant", "status": status, "content": content}

    def _response(self, status: str, output: list[Event] | None = None) -> Event:
        response = {"id": self._response_id, "object": "realtime.response", "status": status, "output": output or []}
        return {**response, "status_details": None, "usage": None}

    def _usage(self, text_tokens: int, audio_tokens: int) -> Event:
        text_in, audio_in = self._input
        output = text_tokens + audio_tokens
        return {
            "total_tokens": text_in + audio_in + output,
            "input_tokens": text_in + audio_in,
            "output_tokens": output,
            "input_token_details": {"text_tokens": text_in, "audio_tokens": audio_in, "cached_tokens": 0},
            "output_token_details": {"text_tokens": text_tokens, "audio_tokens": audio_tokens},
        }
