"""The way to the gateway: each request is signed anew, also when it is sent again."""

import os
import ssl
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import certifi
import httpx

from account_gateway_client.errors import ClientError, GatewayError, GatewayUnreachable
from account_gateway_client.gateway import Gateway
from account_gateway_client.proxy import refusals
from account_gateway_client.proxy.headers import RawHeaders
from account_gateway_client.signing import Repairs

# A model may take its time; the tool decides how long, and its leaving ends the call.
TIMEOUT = httpx.Timeout(None, connect=10.0)
# A connection that the gateway may be closing just now is not used again.
LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=20, keepalive_expiry=3.0)
NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError, httpx.UnsupportedProtocol)

Content = Callable[[], AsyncIterator[bytes]]


class Upstream:
    """One gateway, and the account that is signed in at it. Belongs to one event loop.

    Raises ClientError where the environment's proxy or certificates cannot be used.
    """

    def __init__(self, gateway: Gateway) -> None:
        self.base_url = gateway.base_url
        self._signer = gateway.signer
        self._client = _client()

    async def send(
        self,
        method: str,
        target: str,
        headers: RawHeaders,
        content: Content | None = None,
        *,
        lost: Callable[[], None] = lambda: None,
    ) -> httpx.Response:
        """Return an answer whose body is still to be read.

        `content` gives the same body each time. A request that got no answer on a connection is sent once more on another
        one: `lost` is called first, because the gateway may have taken it. Raises Refusal where no answer comes.
        """
        repairs, attempts = Repairs(self._signer), 0
        while True:
            request = self._request(method, target, headers, content)
            self._signer.sign(request, await self._token())
            try:
                response = await self._client.send(request, stream=True)
            except NOT_SENT as error:
                raise refusals.unreachable(self.base_url) from error
            except httpx.TransportError as error:
                lost()
                attempts += 1
                if attempts > 1:
                    raise refusals.lost() from error
                continue
            if not repairs.worthwhile(response.status_code, response.headers, request):
                return response
            await response.aclose()

    def _request(self, method: str, target: str, headers: RawHeaders, content: Content | None) -> httpx.Request:
        try:
            return httpx.Request(method, self.base_url + target, headers=headers, content=content and content())
        except httpx.InvalidURL as error:
            raise refusals.Refusal(414, "invalid_request", "The address is too long.") from error

    async def read(self, target: str) -> Any:
        """Return the JSON of a resource. Raises GatewayError for any other answer, and Refusal where none comes."""
        response = await self.send("GET", target, [(b"accept-encoding", b"identity")])
        try:
            body = await response.aread()
        except httpx.TransportError as error:
            raise refusals.lost() from error
        finally:
            await response.aclose()
        if response.status_code != httpx.codes.OK:
            raise GatewayError(response.status_code, "unreadable")
        return httpx.Response(200, content=body).json()

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _token(self) -> str:
        """Return a live token. Raises Refusal where nobody is signed in any more, or the gateway is away."""
        try:
            return await self._signer.tokens.token_async()
        except GatewayUnreachable as error:
            raise refusals.unreachable(self.base_url) from error
        except GatewayError as error:
            if error.status >= 500 or error.status == 429:
                raise refusals.unreachable(self.base_url) from error
            raise refusals.signed_out(
                f"{error.message or error.code} Run `agw login --gateway {self.base_url}`."
            ) from error
        except ClientError as error:
            raise refusals.signed_out(str(error)) from error


def _client() -> httpx.AsyncClient:
    try:
        return httpx.AsyncClient(timeout=TIMEOUT, limits=LIMITS, verify=_trusted(), follow_redirects=False)
    except (ImportError, OSError, ValueError, httpx.InvalidURL) as error:  # SOCKS needs a package of its own
        message = "The proxy or the certificates that the environment names cannot be used"
        raise ClientError(f"{message} ({error}): see HTTPS_PROXY, ALL_PROXY and REQUESTS_CA_BUNDLE.") from error


def _trusted() -> ssl.SSLContext:
    """Trust the certificates that `requests` trusts, with which the rest of this package speaks to the gateway."""
    named = os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE") or certifi.where()
    is_folder = Path(named).is_dir()
    return ssl.create_default_context(cafile=None if is_folder else named, capath=named if is_folder else None)
