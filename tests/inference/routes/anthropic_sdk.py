"""The vendor's official SDK as a caller of the gateway, over the HTTP clients of the Python client, and nothing else changed."""

from typing import Any

import anthropic
import httpx2

from account_gateway_client import Gateway, ProofKey
from tests.factories.proofs import BASE_URL
from tests.support.plain_http import NO_AUTHORITIES
from tests.support.stage import Caller

MAX_COST_MICROUSD = 100_000


class _Held:
    """A TokenSource of the one token that a caller has."""

    def __init__(self, caller: Caller) -> None:
        self.key = ProofKey(caller.signer.private)  # type: ignore[arg-type]
        self._token = caller.token

    def token(self) -> str:
        """Return the token."""
        return self._token

    async def token_async(self) -> str:
        """Return the token."""
        return self._token

    def forget(self, token: str) -> None:
        """Keep it: there is no other."""


class _Rerouting:
    """Sends what is addressed to the gateway's public address to the one where a test runs it. `lose` answers are lost on
    their way back."""

    def __init__(self, origin: str, *, lose: int = 0) -> None:
        super().__init__(verify=NO_AUTHORITIES)  # type: ignore[call-arg]
        self._origin = httpx2.URL(origin)
        self.lose = lose

    def _rerouted(self, request: httpx2.Request) -> httpx2.Request:
        url = request.url.copy_with(scheme=self._origin.scheme, host=self._origin.host, port=self._origin.port)
        parts: Any = {"headers": request.headers, "stream": request.stream, "extensions": request.extensions}
        return httpx2.Request(request.method, url, **parts)

    def _is_lost(self) -> bool:
        self.lose -= 1
        return self.lose >= 0


class Rerouting(_Rerouting, httpx2.HTTPTransport):
    """Does so for the synchronous client."""

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        response = super().handle_request(self._rerouted(request))
        if self._is_lost():
            response.read()
            raise httpx2.ReadError("lost")
        return response


class AsyncRerouting(_Rerouting, httpx2.AsyncHTTPTransport):
    """Does so for the asynchronous client."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(self._rerouted(request))
        if self._is_lost():
            await response.aread()
            raise httpx2.ReadError("lost")
        return response


def sdk(caller: Caller, *, lose: int = 0, max_retries: int = 0, **options: Any) -> Any:
    """Return the synchronous client; options are those of the HTTP client."""
    options = {"max_cost_microusd": MAX_COST_MICROUSD, **options}
    http = _gateway(caller).http_client(transport=Rerouting(caller.origin, lose=lose), **options)
    return anthropic.Anthropic(base_url=BASE_URL, api_key="unused", http_client=http, max_retries=max_retries)


def async_sdk(caller: Caller, *, lose: int = 0, max_retries: int = 0, **options: Any) -> Any:
    """Return the asynchronous client; options likewise."""
    options = {"max_cost_microusd": MAX_COST_MICROUSD, **options}
    http = _gateway(caller).async_http_client(transport=AsyncRerouting(caller.origin, lose=lose), **options)
    return anthropic.AsyncAnthropic(base_url=BASE_URL, api_key="unused", http_client=http, max_retries=max_retries)


def _gateway(caller: Caller) -> Gateway:
    return Gateway(BASE_URL, _Held(caller))
