"""A small server with the gateway's manners towards clients: proofs, nonces, redirects, idempotency, lost answers.

It is not the gateway and knows nothing of money: it stands in only for what a gateway does rarely or never on purpose
(redirect, lose the connection after the work is done, ask for a nonce). `test_against_the_gateway` uses the real one.
"""

import asyncio
import json
import time
import uuid
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.clients import stand_messages
from tests.clients.verifier import Refused, verify_assertion, verify_proof
from tests.support.server_thread import ServerThread

AUDIENCE = "https://gateway.example"
HOLD, CHARGE = "900", 420


@dataclass
class Orders:
    """How the stand is to behave."""

    nonce: str | None = None
    expires_in: int = 300
    lose_answers: int = 0
    refuse: list[tuple[int, str]] = field(default_factory=list)
    revoked: set[str] = field(default_factory=set)
    refuse_tokens: bool = False
    refuse_nonces: bool = False
    exchange_seconds: float = 0.0


class Stand(ServerThread):
    """The server, running in a thread of its own. `served` is the work it did, one entry a key."""

    def __init__(self, jwks: dict[str, Any]) -> None:
        super().__init__()
        self.jwks = jwks
        self.orders = Orders()
        self.exchanges: list[dict[str, Any]] = []
        self.attempts: list[dict[str, str]] = []
        self.served: dict[str, dict[str, Any]] = {}
        self.foreign: list[dict[str, str]] = []
        self._tokens: dict[str, str] = {}
        self._seen: set[str] = set()

    def application(self) -> web.Application:
        app = web.Application()
        app.router.add_post("/v1/auth/token/exchange", self._exchange)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_post("/v1/messages", self._messages)
        app.router.add_post("/v1/embeddings", self._embeddings)
        app.router.add_get("/v1/wallet", self._wallet)
        app.router.add_get("/v1/usage", self._usage)
        app.router.add_post("/v1/billing/checkout", self._checkout)
        app.router.add_get("/v1/account", self._account)
        app.router.add_get("/v1/models", self._models)
        app.router.add_route("*", "/moved/{status}", self._moved)
        app.router.add_route("*", "/elsewhere", self._elsewhere)
        app.router.add_route("*", "/foreign", self._foreign)
        return app

    @property
    def base_url(self) -> str:
        return self.origin

    # Tokens

    async def _exchange(self, request: web.Request) -> web.Response:
        body = await request.json()
        if self.orders.exchange_seconds:
            await asyncio.sleep(self.orders.exchange_seconds)
        try:
            claims = verify_assertion(body["assertion"], self.jwks, AUDIENCE)
        except Exception as error:  # noqa: BLE001
            return web.json_response({"error": "invalid_grant", "error_description": str(error)}, status=400)
        assert set(body["dpop_jwk"]) == {"kty", "crv", "x", "y"}, "only the public half may travel"
        self.exchanges.append(claims)
        token = f"token-{len(self.exchanges)}-{uuid.uuid4().hex}"
        self._tokens[token] = claims["cnf"]["jkt"]
        scope = " ".join(claims["capabilities"])
        answer = {"access_token": token, "token_type": "DPoP", "expires_in": self.orders.expires_in, "scope": scope}
        return web.json_response(answer)

    def _admit(self, request: web.Request) -> web.Response | None:
        """Return a 401 unless token and proof are good."""
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme != "DPoP" or token not in self._tokens or self._revoked(token):
            return _challenge("invalid_token")
        target = f"{self.base_url}{request.path}"
        try:
            proof = request.headers["DPoP"]
            claims = verify_proof(proof, method=request.method, target=target, token=token, seen=self._seen)
        except (Refused, KeyError) as error:
            return _challenge("invalid_dpop_proof", str(error))
        if claims["jkt"] != self._tokens[token]:
            return _challenge("invalid_token", "another key")
        if self.orders.nonce and (self.orders.refuse_nonces or claims.get("nonce") != self.orders.nonce):
            return _challenge("use_dpop_nonce", nonce=self.orders.nonce)
        return None

    def _revoked(self, token: str) -> bool:
        return self.orders.refuse_tokens or token in self.orders.revoked

    async def _checkout(self, request: web.Request) -> web.Response:
        if refusal := self._admit(request):
            return refusal
        return web.json_response(await request.json(), status=201)

    # Metered routes

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        refusal, replayed, body = await self._take(request)
        if refusal is not None:
            return refusal
        if body.get("stream"):
            return await self._stream(request, replayed)
        message: dict[str, Any] = {"role": "assistant", "content": "one two three"}
        if tools := body.get("tools"):
            name = tools[0]["function"]["name"]
            call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": '{"city":"Bern"}'}}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 3, "completion_tokens": 3, "total_tokens": 6}
        answer = {**_frame("chat.completion"), "choices": [choice], "usage": usage}
        return web.json_response(answer, headers=_receipt(replayed, CHARGE))

    async def _messages(self, request: web.Request) -> web.StreamResponse:
        refusal, replayed, body = await self._take(request)
        if refusal is not None:
            return refusal
        if body.get("stream"):
            return await self._deliver(request, replayed, [*stand_messages.events()])
        return web.json_response(stand_messages.message_for(body), headers=_receipt(replayed, CHARGE))

    async def _embeddings(self, request: web.Request) -> web.StreamResponse:
        refusal, replayed, body = await self._take(request)
        if refusal is not None:
            return refusal
        data = [{"object": "embedding", "index": 0, "embedding": [0.5, -0.5]}]
        answer = {
            "object": "list",
            "model": body["model"],
            "data": data,
            "usage": {"prompt_tokens": 1, "total_tokens": 1},
        }
        return web.json_response(answer, headers=_receipt(replayed, CHARGE))

    async def _take(self, request: web.Request) -> tuple[web.StreamResponse | None, bool, dict[str, Any]]:
        """Admit, then do the work of a key once; the answer is lost where the orders say so."""
        self.attempts.append(dict(request.headers))
        if refusal := self._admit(request):
            return refusal, False, {}
        key = request.headers.get("Idempotency-Key")
        if key is None or "x-service-max-cost-microusd" not in request.headers:
            return _error(400, "idempotency_key_required"), False, {}
        if self.orders.refuse:
            status, code = self.orders.refuse.pop(0)
            return _error(status, code), False, {}
        body = await request.json()
        replayed = key in self.served
        self.served.setdefault(key, body)
        if self.orders.lose_answers:
            self.orders.lose_answers -= 1
            assert request.transport is not None
            request.transport.abort()
        return None, replayed, body

    async def _stream(self, request: web.Request, replayed: bool) -> web.StreamResponse:
        choices = [
            {"index": 0, "delta": {"content": word}, "finish_reason": None} for word in ("one", " two", " three")
        ]
        chunks = [{**_frame("chat.completion.chunk"), "choices": [choice]} for choice in choices]
        events = [f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks]
        return await self._deliver(request, replayed, [*events, b"data: [DONE]\n\n"])

    async def _deliver(self, request: web.Request, replayed: bool, events: list[bytes]) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", **_receipt(replayed, None)})
        await response.prepare(request)
        for event in events:
            await response.write(event)
        closing = json.dumps({"usage_id": "use_1", "charge_microusd": CHARGE}).encode()
        for part in (b": service " + closing[:9], closing[9:] + b"\n\n"):
            await response.write(part)
            await asyncio.sleep(0.005)  # parts of the comment come in packets of their own
        return response

    # Reads and redirects

    async def _wallet(self, request: web.Request) -> web.Response:
        return self._admit(request) or web.json_response({"currency": "USD", "balanceMicrousd": 7})

    async def _usage(self, request: web.Request) -> web.Response:
        return self._admit(request) or web.json_response({"data": [{"limit": request.query["limit"]}]})

    async def _account(self, request: web.Request) -> web.Response:
        return self._admit(request) or web.json_response({"did": "did:web:studio.example:alice"})

    async def _models(self, request: web.Request) -> web.Response:
        return self._admit(request) or web.json_response({"object": "list", "data": [{"id": "fast"}]})

    async def _moved(self, request: web.Request) -> web.Response:
        if refusal := self._admit(request):
            return refusal
        location = request.query.get("to", "/elsewhere?x=1")
        return web.Response(status=int(request.match_info["status"]), headers={"Location": location})

    async def _elsewhere(self, request: web.Request) -> web.Response:
        return self._admit(request) or web.json_response({"method": request.method, "body": await request.text()})

    async def _foreign(self, request: web.Request) -> web.Response:
        self.foreign.append(dict(request.headers))
        return web.json_response({})


def _frame(kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": int(time.time()), "model": "fast"}


def _receipt(replayed: bool, charge: int | None) -> dict[str, str]:
    headers = {"x-service-usage-id": "use_1", "x-service-hold-microusd": HOLD}
    headers |= {"x-service-charge-microusd": str(charge)} if charge is not None else {}
    return headers | ({"Idempotent-Replayed": "true"} if replayed else {})


def _challenge(code: str, reason: str = "", nonce: str | None = None) -> web.Response:
    headers = {"WWW-Authenticate": f'DPoP error="{code}", error_description="x", algs="ES256 EdDSA"'}
    return _error(401, code, headers | ({"DPoP-Nonce": nonce} if nonce else {}), reason)


def _error(status: int, code: str, headers: dict[str, str] | None = None, message: str = "No.") -> web.Response:
    body = {"code": code, "message": message, "type": "x_error", "param": "model", "details": {}, "request_id": "req_1"}
    extra = {"Retry-After": "0.01", "X-Request-Id": "req_1"}
    return web.json_response({"error": body}, status=status, headers={**extra, **(headers or {})})
