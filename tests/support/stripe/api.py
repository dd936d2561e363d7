"""The HTTP layer: authentication, idempotency, expansion, errors, and scripted misbehavior."""

import asyncio
import base64
import dataclasses
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import orjson
from aiohttp import web

from tests.support.scripts import Scripts
from tests.support.stripe import behaviours, forms
from tests.support.stripe.behaviours import HONEST, Behaviour, Script
from tests.support.stripe.errors import Refusal
from tests.support.stripe.events import API_VERSION
from tests.support.stripe.expansion import expand
from tests.support.stripe.idempotency import Answer, IdempotencyKeys
from tests.support.stripe.request import Request
from tests.support.stripe.store import Json, Store, random_text

Operation = Callable[[Request], Json]
NO_KEY = (
    "You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth "
    "(e.g. 'Authorization: Bearer YOUR_SECRET_KEY')."
)


@dataclass(slots=True)
class ReceivedRequest:
    """One received request; `status` is 0 if no response was sent."""

    method: str
    path: str
    params: dict[str, Any] = field(default_factory=dict)
    idempotency_key: str | None = None
    status: int = 0
    replayed: bool = False


class Api:
    """Responds under /v1 to the holders of `keys`; a key's name contains its mode."""

    def __init__(self, store: Store, keys: tuple[str, ...]) -> None:
        self.store = store
        self.keys = keys
        self.scripts = Scripts[Script]()
        self.idempotency = IdempotencyKeys()
        self.requests: list[ReceivedRequest] = []
        self.ignores_expand = False

    def route(self, operation: Operation) -> Callable[[web.Request], Awaitable[web.Response]]:
        """Build the handler of an operation."""

        async def handle(http: web.Request) -> web.Response:
            return await self._serve(http, operation)

        return handle

    async def unknown(self, http: web.Request) -> web.Response:
        """Respond to an address that the API does not have."""

        def refuse(request: Request) -> Json:
            raise Refusal(404, f"Unrecognized request URL ({request.method}: {request.path}).")

        return await self._serve(http, refuse)

    async def _serve(self, http: web.Request, operation: Operation) -> web.Response:
        received = ReceivedRequest(http.method, http.path, idempotency_key=http.headers.get("Idempotency-Key"))
        self.requests.append(received)
        request_id = f"req_{random_text(14)}"
        script = self.scripts.take(http.method, http.path)
        behaviour = script.behaviour if script else HONEST
        raw = await http.text()
        if behaviour.gate and not behaviour.gate.is_answered:
            await behaviour.gate.wait()
        answer = await self._answer(http, raw, operation, behaviour, received, request_id)
        if behaviour.gate and behaviour.gate.is_answered:
            await behaviour.gate.wait()
        if behaviour.cut:
            if http.transport is not None:
                http.transport.close()
            return web.Response(status=499)
        received.status, received.replayed = answer.status, "Idempotent-Replayed" in answer.headers
        return _render(answer, behaviour, request_id, received)

    async def _answer(
        self,
        http: web.Request,
        raw: str,
        operation: Operation,
        behaviour: Behaviour,
        received: ReceivedRequest,
        request_id: str,
    ) -> Answer:
        try:
            request = self._read(http, raw, received)
            if not behaviour.works and not behaviour.is_stored:
                await asyncio.sleep(behaviour.delay_seconds)
                return _error(behaviour)
            known = self.idempotency.begin(request, request_id=request_id, now=self.store.now())
        except Refusal as refusal:
            return Answer(refusal.status, refusal.envelope())
        answer = known or self._work(request, operation, behaviour)
        await asyncio.sleep(behaviour.delay_seconds)
        if known is None and (answer.status < 400 or answer.status == 402 or behaviour.is_stored):
            self.idempotency.finish(request, answer)
        return _error(behaviour) if behaviour.works and behaviour.status else answer

    def _work(self, request: Request, operation: Operation, behaviour: Behaviour) -> Answer:
        """Perform the operation; a refusal releases the idempotency key."""
        if not behaviour.works:
            return _error(behaviour)
        params = dict(request.params)
        paths = params.pop("expand", [])
        try:
            with self.store.lock:
                done = operation(dataclasses.replace(request, params=params))
                return Answer(200, expand(self.store, done, [] if self.ignores_expand else paths))
        except Refusal as refusal:
            if not refusal.is_stored:
                self.idempotency.abandon(request)
            return Answer(refusal.status, refusal.envelope())

    def _read(self, http: web.Request, raw: str, received: ReceivedRequest) -> Request:
        live = self._authenticate(http.headers.get("Authorization", ""))
        received.params = forms.parse(raw if http.method == "POST" else http.rel_url.raw_query_string)
        return Request(
            http.method, http.path, live, dict(received.params), http.match_info.get("id", ""), received.idempotency_key
        )

    def _authenticate(self, header: str) -> bool:
        scheme, _, value = header.partition(" ")
        if scheme.lower() == "basic":
            value = base64.b64decode(value).decode().partition(":")[0]
        if not value:
            raise Refusal(401, NO_KEY)
        if value not in self.keys:
            raise Refusal(401, f"Invalid API Key provided: {value[:8]}{'*' * 8}{value[-4:]}")
        return "_live_" in value


def _error(behaviour: Behaviour) -> Answer:
    status = behaviour.status or 500
    return Answer(status, behaviours.error_body(status))


def _render(answer: Answer, behaviour: Behaviour, request_id: str, received: ReceivedRequest) -> web.Response:
    payload = behaviours.deform(orjson.dumps(answer.body, option=orjson.OPT_INDENT_2), behaviour.form)
    headers = {
        **answer.headers,
        "Request-Id": request_id,
        "Stripe-Version": API_VERSION,
    }
    if received.idempotency_key is not None:
        headers["Idempotency-Key"] = received.idempotency_key
    if behaviour.retry_after_seconds is not None:
        headers["Retry-After"] = str(behaviour.retry_after_seconds)
    kind = "text/html" if behaviour.form == "html" else "application/json"
    return web.Response(status=answer.status, body=payload, headers=headers, content_type=kind)
