"""The fake upstream's routes: the vendor's public API and the test's control routes."""

import asyncio
import itertools
import json
from collections.abc import Iterator
from typing import Any

from aiohttp import web

from tests.support.scripts import Scripts
from tests.support.upstream import audio, chat, embeddings, errors, images, messages, rerank, responses
from tests.support.upstream.answers import Answer, answer
from tests.support.upstream.behaviours import PRESETS, Behaviour, Script, from_model
from tests.support.upstream.call import Call, PeerLeft
from tests.support.upstream.delivery import cut_off, deliver_body, deliver_stream, stay_silent
from tests.support.upstream.generations import Records
from tests.support.upstream.ledger import Entry, Ledger
from tests.support.upstream.realtime import Realtime
from tests.support.upstream.stream import Frame, dumps
from tests.support.upstream.tokens import count_text
from tests.support.upstream.usage import ABSENT, Usage, report, tier_of

MAX_BODY_BYTES = 64 * 1024 * 1024
PREFIXES = {
    **audio.PATHS,
    "/chat/completions": "chatcmpl",
    "/embeddings": "embd",
    "/images/generations": "img",
    "/messages": "msg",
    "/rerank": "rerank",
    "/responses": "resp",
    "/v2/rerank": "rerank",
}


APIS = {"/chat/completions": chat, "/messages": messages, "/responses": responses}


class Upstream:
    """An OpenAI-compatible service with its own ledger that misbehaves on request."""

    def __init__(self, *, keep_bodies: bool = True, api_key: str | None = None) -> None:
        self.ledger = Ledger(keep_bodies=keep_bodies)
        self.scripts = Scripts[Script]()
        self.api_key = api_key
        self.gate = asyncio.Event()
        self.gate.set()
        self.records = Records(self.ledger, api_key)
        self.realtime = Realtime(api_key)

    def application(self) -> web.Application:
        """Build the aiohttp application."""
        app = web.Application(client_max_size=MAX_BODY_BYTES)
        for path in PREFIXES:
            app.router.add_post(path if path.startswith("/v2") else f"/v1{path}", self.serve)
        app.router.add_post("/v1/messages/count_tokens", self.count_tokens)
        app.router.add_get("/v1/realtime", self.realtime.serve)
        app.router.add_get("/v1/models", self.list_models)
        app.router.add_get("/_ledger", self.show_ledger)
        app.router.add_post("/_reset", self.reset)
        app.router.add_post("/_script", self.add_script)
        app.router.add_get("/v1/generation", self.records.show)
        return app

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Respond to one model request as its behavior says, and record the true usage."""
        body: Any
        if request.content_type == "multipart/form-data":
            if refusal := errors.refuse_key(request, self.api_key):
                return refusal
            body = await audio.read_form(request)
        else:
            raw = await request.read()
            if refusal := errors.refuse(request, raw, self.api_key):
                return refusal
            body = json.loads(raw)  # unlike orjson it reads integers of any length
        script = self.scripts.take(request.path, body["model"])
        behaviour = script.behaviour if script else from_model(body["model"])
        call = Call(request, body, behaviour, self._remember(request, body, behaviour), self.gate)
        try:
            return await self._answer(call)
        except (PeerLeft, ConnectionError):
            _note_departure(call.entry)
            return web.Response(status=499)

    async def _answer(self, call: Call) -> web.StreamResponse:
        await asyncio.sleep(call.behaviour.delay_ms / 1000)
        if not call.streaming and call.entry.path != audio.SPEECH:  # its delay comes after the first byte
            await call.gate.wait()
        if call.behaviour.hang == "before_headers":
            await stay_silent(call)
        if call.behaviour.cut == "before_headers":
            await cut_off(call)
        call.entry.status = call.behaviour.status
        if call.behaviour.status >= 400:
            return await deliver_body(call, *errors.render(call.behaviour, call.entry.path))
        return await self._succeed(call)

    async def _succeed(self, call: Call) -> web.StreamResponse:
        if call.entry.path in audio.PATHS:
            return await audio.serve(call)
        if call.entry.path.endswith("/embeddings"):
            rendered = embeddings.render(call.body, call.behaviour)
            return await self._send_json(call, rendered, tokens=0)
        if call.entry.path.endswith("/rerank"):
            rendered = rerank.render(call.entry.path, call.entry.id, call.body, call.behaviour)
            return await self._send_json(call, rendered, tokens=0)
        if call.entry.path == images.PATH:
            return await self._draw(call)
        answered = answer(call.body, call.behaviour)
        api = APIS[call.entry.path]
        call.entry.finish_reason = answered.finish_reason
        call.entry.planned_tokens = api.output_tokens_of(answered, call.behaviour)
        call.entry.reported_usage = _reported(api.usage_of(answered, call.behaviour), call.behaviour)
        if call.streaming:
            frames = api.stream(call.entry.id, call.body, answered, call.behaviour)
            return await deliver_stream(call, _with_error_event(call, answered, frames))
        rendered = api.render(call.entry.id, call.body, answered, call.behaviour)
        return await self._send_json(call, rendered, tokens=call.entry.planned_tokens)

    async def _draw(self, call: Call) -> web.StreamResponse:
        call.entry.planned_tokens = images.tokens_of(call.body, call.behaviour)
        if call.streaming:
            return await deliver_stream(call, images.stream(call.body, call.behaviour))
        rendered = images.render(call.body, call.behaviour)
        return await self._send_json(call, rendered, tokens=call.entry.planned_tokens)

    async def _send_json(self, call: Call, rendered: Any, tokens: int) -> web.StreamResponse:
        call.entry.completion_tokens = tokens
        payload = errors.deform(dumps(rendered), call.behaviour.form)
        return await deliver_body(call, payload, "application/json")

    def _remember(self, request: web.Request, body: Any, behaviour: Behaviour) -> Entry:
        path = request.path.removeprefix("/v1")
        entry = Entry(
            id=self.ledger.new_id(PREFIXES[path]),
            path=path,
            model=body["model"],
            stream=body.get("stream") in (True, "true") or body.get("stream_format") == "sse",
            prompt_tokens=_prompt_tokens(path, body, behaviour),
            cached_tokens=behaviour.cached_tokens,
            cache_write_tokens=behaviour.cache_write_tokens,
            cache_write_1h_tokens=behaviour.cache_write_1h_tokens,
            service_tier=tier_of(body, behaviour),
            idempotency_key=request.headers.get("Idempotency-Key"),
            client_request_id=request.headers.get("X-Client-Request-Id"),
            authorization=request.headers.get("Authorization"),
            headers={name: value for name, value in request.headers.items() if name.lower().startswith("anthropic-")},
            behaviour=body["model"].partition("?")[0],
            body=body if self.ledger.keep_bodies else None,
        )
        return self.ledger.add(entry)

    async def count_tokens(self, request: web.Request) -> web.Response:
        """Count a Messages request's tokens, as its answer would report them."""
        raw = await request.read()
        if refusal := errors.refuse(request, raw, self.api_key):
            return refusal
        body = json.loads(raw)
        behaviour = from_model(body["model"])
        if behaviour.status >= 400:
            return web.Response(status=behaviour.status)
        return _json({"input_tokens": answer(body, behaviour).prompt_tokens})

    async def list_models(self, request: web.Request) -> web.Response:
        """List the plain model and every preset as a model."""
        data = [{"id": name, "object": "model", "created": 0, "owned_by": "upstream"} for name in ("small-1", *PRESETS)]
        return _json({"object": "list", "data": data})

    async def show_ledger(self, request: web.Request) -> web.Response:
        """Return the ledger; `?after=N` omits the first N entries."""
        after = int(request.query.get("after", "0"))
        return web.Response(body=self.ledger.render(after=after), content_type="application/json")

    async def reset(self, request: web.Request) -> web.Response:
        """Empty the ledger and remove every script."""
        self.ledger.clear()
        self.scripts.clear()
        return web.Response(status=204)

    async def add_script(self, request: web.Request) -> web.Response:
        """Queue a script: {"behaviour": {…} or a preset's name, "model"?, "path"?, "times"?}."""
        given = await request.json()
        chosen = given.pop("behaviour")
        behaviour = PRESETS[chosen] if isinstance(chosen, str) else Behaviour.parse(chosen)
        self.scripts.add(Script(behaviour=behaviour, **given))
        return web.Response(status=204)


def _prompt_tokens(path: str, body: Any, behaviour: Behaviour) -> int:
    if path in audio.PATHS:
        return 0
    if path == "/embeddings":
        return embeddings.count_inputs(embeddings.inputs_of(body))
    if path == images.PATH:
        return count_text(body["prompt"])
    if path.endswith("/rerank"):
        return rerank.count_pairs(body)
    return answer(body, behaviour).prompt_tokens


def _with_error_event(call: Call, answered: Answer, frames: Iterator[Frame]) -> Iterator[Frame]:
    if not call.behaviour.error_event:
        return frames
    begun = itertools.islice(frames, 1 + answered.tokens // 2)
    return itertools.chain(begun, [errors.event(call.entry.path)])


def _reported(usage: Usage, behaviour: Behaviour) -> Any:
    reported = report(usage, behaviour.usage)
    return None if reported is ABSENT else reported


def _note_departure(entry: Entry) -> None:
    if entry.outcome != "cut":
        entry.outcome = "left"
        entry.left_after_tokens = entry.completion_tokens


def _json(value: Any) -> web.Response:
    return web.Response(body=dumps(value), content_type="application/json")
