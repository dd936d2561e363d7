"""The proxy as an ASGI application: admits a request, and passes it on as a metered call or as it is."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import httpx
from anyio import move_on_after

from account_gateway_client.calls import ATTEMPT
from account_gateway_client.proxy import refusals, retry_keys, terms
from account_gateway_client.proxy.admission import Admission
from account_gateway_client.proxy.connections import ADMITTED
from account_gateway_client.proxy.exchange import Exchange
from account_gateway_client.proxy.headers import RawHeaders
from account_gateway_client.proxy.local_request import ClientLeft, LocalRequest, Message, Receive, Send
from account_gateway_client.proxy.metered_call import MeteredCall
from account_gateway_client.proxy.outcomes import Outcomes
from account_gateway_client.proxy.paths import Dialect, Route, dialect_of, route_of
from account_gateway_client.proxy.refusals import Refusal
from account_gateway_client.proxy.retry_keys import RetryKeys
from account_gateway_client.proxy.spending import Spending
from account_gateway_client.proxy.upstream import Upstream
from account_gateway_client.receipts import IDEMPOTENCY_KEY, MAX_COST, Receipt

# How long the rest of a body may take that is only needed to recognize a retry of it.
REST_OF_BODY_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class CallReport:
    """What became of a metered call. `status` is None where no answer came, `receipt` where the gateway gave none."""

    path: str
    status: int | None
    receipt: Receipt | None


class Application:
    """Serves the tools of one person. Belongs to one event loop."""

    def __init__(
        self,
        upstream: Upstream,
        admission: Admission,
        spending: Spending,
        outcomes: Outcomes,
        *,
        max_cost_microusd: int,
        on_call: Callable[[CallReport], None],
    ) -> None:
        self._upstream = upstream
        self._admission = admission
        self._spending = spending
        self._outcomes = outcomes
        self._max_cost_microusd = max_cost_microusd
        self._on_call = on_call
        self._keys = RetryKeys()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request. An answer that breaks off is left unfinished, and the server then closes the connection."""
        request = LocalRequest(scope, receive)
        dialect = dialect_of(request.path, request.headers)
        try:
            self._admission.check(request.peer, request.headers)
            scope[ADMITTED] = True
            route = self._route(request)
            exchange = Exchange(self._upstream, request, dialect, send)
            if request.method == "POST" and route.usage_route is not None:
                await self._meter(exchange, request, route.usage_route)
            else:
                await exchange.run()
        except Refusal as refusal:
            await _refuse(refusal, dialect, send)
        except (ClientLeft, httpx.TransportError):
            return

    @staticmethod
    def _route(request: LocalRequest) -> Route:
        route = route_of(request.path)
        if route is None:
            raise Refusal(404, "not_found", "The proxy knows the model routes only.")
        if request.method not in route.methods:
            allowed = ", ".join(route.methods)
            raise Refusal(405, "method_not_allowed", f"Use {allowed}.", headers={"Allow": allowed})
        if {"content-length", "transfer-encoding"} <= request.headers.keys():  # two lengths: somebody misreads one
            message = "Send Content-Length or Transfer-Encoding, not both."
            raise Refusal(400, "invalid_request", message, headers={"Connection": "close"})
        return route

    async def _meter(self, exchange: Exchange, request: LocalRequest, usage_route: str) -> None:
        maximum = terms.maximum_of(request.headers, self._max_cost_microusd)
        key = await self._key(request)
        call = MeteredCall((usage_route, key), self._spending, self._outcomes)
        refused: int | None = None
        try:
            await call.begin(maximum)
            await self._send(exchange, request, call, _terms(key, maximum))
        except Refusal as refusal:
            refused = refusal.status
            raise
        finally:
            self._keys.ended(key, delivered=exchange.is_whole and (exchange.status or 500) < 300)
            self._on_call(CallReport(request.path, refused or exchange.status, exchange.receipt))

    async def _send(self, exchange: Exchange, request: LocalRequest, call: MeteredCall, sent: RawHeaders) -> None:
        exchange.seen = partial(call.seen, exchange)
        try:
            await exchange.run(sent, call.lost)
        except Refusal:
            await self._recognize_later(request)
            raise
        finally:
            call.end(exchange, was_sent=exchange.was_left and request.body_is_whole)

    async def _key(self, request: LocalRequest) -> str:
        """Return the tool's own key, that of the call which an SDK's retry belongs to, or a new one."""
        sent = sum(name == IDEMPOTENCY_KEY.lower().encode() for name, _ in request.raw_headers)
        if own := terms.key_of(request.headers, sent):
            return own
        attempt = retry_keys.attempt_of(request.headers)
        key = self._keys.again(_fingerprint(request, await request.body()), attempt) if attempt else self._keys.first()
        if ATTEMPT in request.headers:
            request.when_whole(lambda body: self._keys.sent(key, _fingerprint(request, body), attempt))
        return key

    @staticmethod
    async def _recognize_later(request: LocalRequest) -> None:
        """Read what the gateway did not, so that a retry is known as one."""
        if ATTEMPT in request.headers:
            with suppress(Refusal), move_on_after(REST_OF_BODY_SECONDS):
                await request.body()


def _fingerprint(request: LocalRequest, body: bytes) -> bytes:
    return retry_keys.fingerprint(request.target, request.headers.get("content-type", ""), body)


def _terms(key: str, maximum: int) -> RawHeaders:
    return [(IDEMPOTENCY_KEY.encode(), key.encode("ascii")), (MAX_COST.encode(), str(maximum).encode())]


async def _refuse(refusal: Refusal, dialect: Dialect, send: Send) -> None:
    request_id = refusals.new_request_id()
    body = refusal.body(dialect, request_id)
    headers = {
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Cache-Control": "no-store",
        "X-Request-Id": request_id,
        "request-id": request_id,
        **refusal.headers,
    }
    raw = [(name.encode(), value.encode("latin-1", "replace")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": refusal.status, "headers": raw})
    await send({"type": "http.response.body", "body": body, "more_body": False})
