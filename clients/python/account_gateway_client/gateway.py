"""One account at one gateway."""

from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import httpx

from account_gateway_client.errors import GatewayError
from account_gateway_client.httpx_auth import DPoPAuth
from account_gateway_client.signing import RequestSigner
from account_gateway_client.tokens import TokenSource

if TYPE_CHECKING:
    from account_gateway_client.openai_http import AsyncGatewayHttpClient, GatewayHttpClient
    from account_gateway_client.requests_auth import DPoPRequestsAuth


class Gateway:
    """Reads an account's own resources, and makes the HTTP clients that other libraries call models with."""

    def __init__(self, base_url: str, tokens: TokenSource, *, timeout_seconds: float = 30.0) -> None:
        self.base_url = base_url.rstrip("/")
        self.signer = RequestSigner(self.base_url, tokens)
        self._timeout_seconds = timeout_seconds

    @property
    def api_url(self) -> str:
        """Return the base URL that the OpenAI SDK takes."""
        return f"{self.base_url}/v1"

    @property
    def auth(self) -> DPoPAuth:
        """Return an auth for `httpx.Client` and `httpx.AsyncClient`."""
        return DPoPAuth(self.signer)

    @property
    def requests_auth(self) -> "DPoPRequestsAuth":
        """Return an auth for `requests`."""
        from account_gateway_client.requests_auth import DPoPRequestsAuth

        return DPoPRequestsAuth(self.signer)

    def http_client(self, **options: Any) -> "GatewayHttpClient":
        """Make an HTTP client for `OpenAI(http_client=...)`.

        `max_cost_microusd` is the default limit of a call, `on_receipt` is called with each call's Receipt; the other
        options are those of `httpx2.Client`.
        """
        from account_gateway_client.openai_http import GatewayHttpClient

        return GatewayHttpClient(self.signer, **options)

    def async_http_client(self, **options: Any) -> "AsyncGatewayHttpClient":
        """Make an HTTP client for `AsyncOpenAI(http_client=...)`; options as `http_client`."""
        from account_gateway_client.openai_http import AsyncGatewayHttpClient

        return AsyncGatewayHttpClient(self.signer, **options)

    @cached_property
    def http(self) -> httpx.Client:
        """Return an httpx client whose every request is signed; paths are relative to the gateway."""
        return httpx.Client(base_url=self.base_url, auth=self.auth, timeout=self._timeout_seconds)

    def account(self) -> dict[str, Any]:
        """Return who the token speaks for, and what it may do."""
        return self._get("/v1/account")

    def models(self) -> list[dict[str, Any]]:
        """Return the enabled models with their prices; `authorized` tells whether the token may call one."""
        models: list[dict[str, Any]] = self._get("/v1/models")["data"]
        return models

    def wallet(self) -> dict[str, Any]:
        """Return the wallet in micro-USD: balance, credits, held, available, debt."""
        return self._get("/v1/wallet")

    def usage(self, limit: int = 20) -> list[dict[str, Any]]:
        """Return the latest usage records, newest first, 1 to 100 of them."""
        records: list[dict[str, Any]] = self._get(f"/v1/usage?limit={limit}")["data"]
        return records

    def close(self) -> None:
        """Close the connections of `http`."""
        if "http" in self.__dict__:
            self.http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _get(self, path: str) -> dict[str, Any]:
        response = self.http.get(path)
        try:
            body = response.json()
        except ValueError:
            body = None
        if response.status_code != httpx.codes.OK or not isinstance(body, dict):
            raise GatewayError.of(response.status_code, body)
        return body
