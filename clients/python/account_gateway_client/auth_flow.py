"""The flow of signed requests, for both libraries whose `Auth` classes take one: httpx and httpx2."""

from collections.abc import AsyncGenerator, Generator
from typing import Any

from account_gateway_client.signing import Repairs, RequestSigner


class SigningFlow:
    """Signs every request afresh: the first, one with a new nonce or token, and one that a redirect changed."""

    def __init__(self, signer: RequestSigner) -> None:
        self._signer = signer

    def sync_auth_flow(self, request: Any) -> Generator[Any, Any, None]:
        """Send the request, and again where a repair promises something."""
        repairs, sent = Repairs(self._signer), request
        while True:
            self._signer.sign(sent, self._signer.tokens.token())
            response = yield sent
            if not _again(repairs, response, sent):
                return
            sent = response.request

    async def async_auth_flow(self, request: Any) -> AsyncGenerator[Any, Any]:
        """Do the same on an event loop."""
        repairs, sent = Repairs(self._signer), request
        while True:
            self._signer.sign(sent, await self._signer.tokens.token_async())
            response = yield sent
            if not _again(repairs, response, sent):
                return
            sent = response.request


def _again(repairs: Repairs, response: Any, sent: Any) -> bool:
    moved = (response.request.method, response.request.url) != (sent.method, sent.url)
    return repairs.worthwhile(response.status_code, response.headers, response.request, moved=moved)
