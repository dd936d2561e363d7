"""The fake upstream's realtime socket: the vendor's protocol with its own token counts, and ways to misbehave.

Audio is speech if a byte is not zero. With turn detection on, a silent chunk after speech ends the turn.
"""

import asyncio
import base64
import contextlib
import json
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

from aiohttp import WSMsgType, web

Event = dict[str, Any]

BYTES_PER_TOKEN = 4800
"""PCM at 24 kHz: ten tokens per second."""

SPEED_MAX = 1.5
"""A settings update with a higher value is refused completely."""

_FORMAT = {"type": "audio/pcm", "rate": 24000}


@dataclass
class Manners:
    """The behavior of sessions until `reset`. `usage` rewrites the honest usage of a response; None omits it.
    `refuse` is the status of every handshake, with the error `refusal`; or the connection is reset if `resets`."""

    refuse: int | None = None
    refusal: Event = field(default_factory=lambda: {"code": "no"})
    resets: bool = False
    tokens: int = 8
    usage: Callable[[Event], Any] = lambda honest: honest
    transcript_usage: Callable[[Event], Any] = lambda honest: honest
    cut_after: int | None = None
    obeys: bool = True
    first: list[Any] = field(default_factory=list)
    reads: bool = True
    pongs: bool = True
    says_rate_limits: bool = True
    in_binary: bool = False


@dataclass
class Session:
    """The upstream's record of one session."""

    headers: dict[str, str]
    model: str
    events: list[Event] = field(default_factory=list)
    binary: list[bytes] = field(default_factory=list)
    responses: list[Event] = field(default_factory=list)
    outcome: str = "open"

    def of(self, kind: str) -> list[Event]:
        """Return the client's events of a type."""
        return [event for event in self.events if event["type"] == kind]


class Realtime:
    """The route, and every session since the last reset."""

    def __init__(self, api_key: str | None) -> None:
        self._api_key = api_key
        self.gate = asyncio.Event()
        self.reset()

    def reset(self) -> None:
        """Remove every session, and restore honest behavior."""
        self.sessions: list[Session] = []
        self.handshakes = 0
        self.manners = Manners()
        self.gate.set()

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Serve one session."""
        if self._api_key and request.headers.get("Authorization") != f"Bearer {self._api_key}":
            return web.json_response({"error": {"code": "invalid_api_key"}}, status=401)
        self.handshakes += 1
        if self.manners.resets:
            reset(request)
        if self.manners.refuse:
            error = {"error": {"message": f"No, {self._api_key}", **self.manners.refusal}}
            return web.json_response(error, status=self.manners.refuse, headers={"Location": "http://127.0.0.1:9/"})
        socket = web.WebSocketResponse(autoping=self.manners.pongs, max_msg_size=32 * 1024 * 1024)
        await socket.prepare(request)
        session = Session(dict(request.headers), request.query["model"])
        self.sessions.append(session)
        talk = Talk(request, socket, session, self.manners, self.gate)
        try:
            await talk.run()
        except ConnectionError:
            session.outcome = "left"
        finally:
            talk.hang_up()
        return socket


def reset(request: web.Request) -> NoReturn:
    """Cut a connection with a TCP reset."""
    assert request.transport is not None
    connection = request.transport.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    request.transport.abort()
    raise ConnectionResetError


class Talk:
    """One conversation."""

    def __init__(
        self,
        request: web.Request,
        socket: web.WebSocketResponse,
        session: Session,
        manners: Manners,
        gate: asyncio.Event,
    ) -> None:
        self._request = request
        self._socket, self._session, self._manners, self._gate = socket, session, manners, gate
        turns = {"type": "server_vad", "create_response": True, "interrupt_response": True}
        self._settings: Event = {
            "type": "realtime",
            "object": "realtime.session",
            "id": "sess_upstream_1",
            "model": session.model,
            "instructions": "You are the upstream.",
            "max_output_tokens": "inf",
            "audio": {"input": {"format": _FORMAT, "turn_detection": turns, "transcription": None}, "output": {}},
        }
        self._text_tokens = self._audio_tokens = self._cached_tokens = 0
        self._buffer = b""
        self._is_speech = False
        self._count = 0
        self._speaking: asyncio.Task[None] | None = None
        self._running: str | None = None
        self._cancelled: set[str] = set()
        self._items: set[str] = set()

    async def run(self) -> None:
        """Run until one side disconnects."""
        await self._say("session.created", session=self._settings)
        for event in self._manners.first:
            await (self._socket.send_bytes(event) if isinstance(event, bytes) else self._socket.send_str(event))
        if not self._manners.reads:
            await asyncio.Event().wait()
        async for message in self._socket:
            if message.type is WSMsgType.BINARY:
                self._session.binary.append(message.data)
            if message.type in (WSMsgType.TEXT, WSMsgType.BINARY):
                await self._take(json.loads(message.data))
        self._session.outcome = "left" if self._session.outcome == "open" else self._session.outcome

    def hang_up(self) -> None:
        """Stop responses in progress."""
        if self._speaking is not None:
            self._speaking.cancel()

    async def _take(self, event: Event) -> None:
        self._session.events.append(event)
        name = "_on_" + event["type"].replace(".", "_")
        handler = getattr(self, name, None)
        if handler is None:
            await self._refuse(event, "unknown_event")
        else:
            await handler(event)

    async def _on_session_update(self, event: Event) -> None:
        changes = event["session"]
        if changes.get("type") != "realtime":
            await self._refuse(event, "missing_required_parameter")
            return
        audio = changes.get("audio") or {}
        if (audio.get("output") or {}).get("speed", 1.0) > SPEED_MAX:
            await self._refuse(event, "decimal_above_max_value")
            return
        merged = {part: {**self._settings["audio"][part], **(audio.get(part) or {})} for part in ("input", "output")}
        self._settings = {**self._settings, **changes, "audio": merged}
        await self._say("session.updated", session=self._settings)

    async def _on_conversation_item_create(self, event: Event) -> None:
        for part in event["item"].get("content", []):
            self._text_tokens += len((part.get("text") or "").split())
            self._audio_tokens += len(base64.b64decode(part.get("audio") or "")) // BYTES_PER_TOKEN
        self._count += 1
        item = {**event["item"], "id": event["item"].get("id") or f"item_upstream_{self._count}"}
        self._items.add(item["id"])
        await self._say("conversation.item.added", item=item)
        await self._say("conversation.item.done", item=item)

    async def _on_conversation_item_delete(self, event: Event) -> None:
        if event["item_id"] not in self._items:
            await self._refuse(event, "item_not_found")
            return
        self._items.discard(event["item_id"])
        await self._say("conversation.item.deleted", item_id=event["item_id"])

    async def _on_input_audio_buffer_append(self, event: Event) -> None:
        audio = base64.b64decode(event["audio"])
        self._buffer += audio
        turns = self._settings["audio"]["input"]["turn_detection"]
        if turns is None:
            return
        if any(audio) and not self._is_speech:
            self._is_speech = True
            await self._say(
                "input_audio_buffer.speech_started", item_id=f"turn_upstream_{self._count + 1}", audio_start_ms=0
            )
        elif self._is_speech and not any(audio):
            self._is_speech = False
            await self._say(
                "input_audio_buffer.speech_stopped", item_id=f"turn_upstream_{self._count + 1}", audio_end_ms=1
            )
            await self._commit()
            if turns.get("create_response", True) or not self._manners.obeys:
                await self._on_response_create({"type": "response.create"})

    async def _on_input_audio_buffer_commit(self, event: Event) -> None:
        if not self._buffer:
            await self._refuse(event, "input_audio_buffer_commit_empty")
            return
        await self._commit()

    async def _on_input_audio_buffer_clear(self, event: Event) -> None:
        self._buffer = b""
        await self._say("input_audio_buffer.cleared")

    async def _commit(self) -> None:
        self._count += 1
        item_id, tokens = f"turn_upstream_{self._count}", -(-len(self._buffer) // BYTES_PER_TOKEN)
        self._audio_tokens += tokens
        self._buffer = b""
        await self._say("input_audio_buffer.committed", item_id=item_id, previous_item_id=None)
        if self._settings["audio"]["input"].get("transcription"):
            honest = {
                "type": "tokens",
                "input_tokens": tokens,
                "output_tokens": 3,
                "input_token_details": {"audio_tokens": tokens, "text_tokens": 0},
            }
            name = "conversation.item.input_audio_transcription.completed"
            usage = self._manners.transcript_usage(honest)
            await self._say(name, item_id=item_id, content_index=0, transcript="so it was said", usage=usage)

    async def _on_response_create(self, event: Event) -> None:
        if self._running is not None:
            await self._refuse(event, "conversation_already_has_active_response")
            return
        self._count += 1
        self._running = f"resp_upstream_{self._count}"
        params = event.get("response") or {}
        self._speaking = asyncio.create_task(self._speak(self._running, params))

    async def _on_response_cancel(self, event: Event) -> None:
        if self._running is None:
            await self._refuse(event, "response_cancel_not_active")
        else:
            self._cancelled.add(self._running)
            self._gate.set()

    async def _speak(self, response_id: str, params: Event) -> None:
        limit = params.get("max_output_tokens") or self._settings["max_output_tokens"]
        planned = self._manners.tokens if limit == "inf" else min(self._manners.tokens, limit)
        is_spoken = "audio" in (params.get("output_modalities") or ["text"])
        await self._say("response.created", response={"id": response_id, "status": "in_progress"})
        output_tokens = 0
        for number in range(planned):
            if self._manners.cut_after == number:
                self._session.outcome = "cut"
                transport = self._request.transport
                assert transport is not None
                transport.abort()
                return
            if number == 1:
                await self._gate.wait()
            if response_id in self._cancelled:
                break
            output_tokens += 1
            delta = base64.b64encode(bytes(2400)).decode() if is_spoken else f"word{number} "
            kind = "response.output_audio.delta" if is_spoken else "response.output_text.delta"
            await self._say(kind, response_id=response_id, item_id="item_upstream_out", delta=delta)
        await self._finish(response_id, output_tokens, is_spoken)

    async def _finish(self, response_id: str, output_tokens: int, is_spoken: bool) -> None:
        status = "cancelled" if response_id in self._cancelled else "completed"
        if status == "completed" and output_tokens < self._manners.tokens:
            status = "incomplete"
        honest = {
            "total_tokens": self._text_tokens + self._audio_tokens + output_tokens,
            "input_tokens": self._text_tokens + self._audio_tokens,
            "output_tokens": output_tokens,
            "input_token_details": {
                "text_tokens": self._text_tokens,
                "audio_tokens": self._audio_tokens,
                "cached_tokens": self._cached_tokens,
                "cached_tokens_details": {"text_tokens": self._cached_tokens, "audio_tokens": 0},
            },
            "output_token_details": {
                "text_tokens": 0 if is_spoken else output_tokens,
                "audio_tokens": output_tokens if is_spoken else 0,
            },
        }
        self._cached_tokens = self._text_tokens
        self._text_tokens += 0 if is_spoken else output_tokens
        self._audio_tokens += output_tokens if is_spoken else 0
        self._running = None
        response = {"id": response_id, "object": "realtime.response", "status": status, "output": [], "usage": honest}
        self._session.responses.append(response)
        finished = {**response, "usage": self._manners.usage(honest)}
        await self._say("response.done", response=finished)
        if self._manners.says_rate_limits:
            await self._say("rate_limits.updated", rate_limits=[{"name": "tokens", "limit": 40000, "remaining": 39000}])

    async def _refuse(self, event: Event, code: str) -> None:
        error = {
            "type": "invalid_request_error",
            "code": code,
            "message": "The key sk-upstream-secret-0001 may not do this at host-7.internal.",
            "param": None,
            "event_id": event.get("event_id"),
        }
        await self._say("error", error=error)

    async def _say(self, kind: str, **members: Any) -> None:
        self._number = getattr(self, "_number", 0) + 1
        with contextlib.suppress(ConnectionError):
            event = json.dumps({"type": kind, "event_id": f"event_upstream_{self._number}", **members})
            await (self._socket.send_bytes(event.encode()) if self._manners.in_binary else self._socket.send_str(event))
