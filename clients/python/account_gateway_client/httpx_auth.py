"""DPoP for httpx: `httpx.Client(auth=DPoPAuth(signer))`, synchronous or asynchronous."""

from collections.abc import AsyncGenerator, Generator

import httpx

from account_gateway_client.signing import Repairs, RequestSigner


class DPoPAuth(httpx.Auth):
    """Signs every request afresh: the first, one with a new nonce or token, and one that a redirect changed."""

    def __init__(self, signer: RequestSigner) -> None:
        self._signer = signer

    def sync_auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Send the request, and again where a repair promises something."""
        repairs, sent = Repairs(self._signer), request
        while True:
            self._signer.sign(sent, self._signer.tokens.token())
            response = yield sent
            if not _again(repairs, response, sent):
                return
            sent = response.request

    async def async_auth_flow(self, request: httpx.Request) -> AsyncGenerator[httpx.Request, httpx.Response]:
        """Do the same on an event loop."""
        repairs, sent = Repairs(self._signer), request
        while True:
            self._signer.sign(sent, await self._signer.tokens.token_async())
            response = yield sent
            if not _again(repairs, response, sent):
                return
            sent = response.request


def _again(repairs: Repairs, response: httpx.Response, sent: httpx.Request) -> bool:
    moved = (response.request.method, response.request.url) != (sent.method, sent.url)
    return repairs.worthwhile(response.status_code, response.headers, response.request, moved=moved)
