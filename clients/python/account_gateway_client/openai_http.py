"""HTTP clients for the official OpenAI SDK, which takes httpx2 clients: signing, idempotency keys, cost limits, receipts.

OpenAI(base_url=gateway.api_url, api_key="unused", http_client=gateway.http_client(max_cost_microusd=20_000))
"""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from typing import Any

import httpx2

from account_gateway_client.auth_flow import SigningFlow
from account_gateway_client.calls import key_for
from account_gateway_client.errors import GatewayUnreachable
from account_gateway_client.receipts import EXTENSION, IDEMPOTENCY_KEY, MAX_COST, TAIL_BYTES, Receipt
from account_gateway_client.signing import RequestSigner

DONE = b"data: [DONE]"
ReceiptHandler = Callable[[Receipt], None]
# The SDK's own defaults: a model may take its time, a connection may not.
TIMEOUT = httpx2.Timeout(600.0, connect=5.0)


class DPoPAuth2(SigningFlow, httpx2.Auth):
    """Signs every request of an httpx2 client."""


class CallDefaults:
    """Completes metered requests, and watches their answers for the receipt."""

    def __init__(self, max_cost_microusd: int | None, on_receipt: ReceiptHandler | None) -> None:
        self._max_cost_microusd = max_cost_microusd
        self._on_receipt = on_receipt

    def complete(self, request: httpx2.Request) -> None:
        """Add what the caller left out: the key of the call, and the most it may cost."""
        if request.method != "POST":
            return
        if IDEMPOTENCY_KEY not in request.headers:
            request.headers[IDEMPOTENCY_KEY] = key_for(f"{request.method} {request.url}", request.headers)
        if MAX_COST not in request.headers and self._max_cost_microusd is not None:
            request.headers[MAX_COST] = str(self._max_cost_microusd)

    def watch(self, response: httpx2.Response) -> "Watched | None":
        """Begin a receipt for the answer, unless it was not metered."""
        receipt = Receipt.from_headers(response.headers)
        if receipt is None:
            return None
        watched = response.extensions[EXTENSION] = Watched(receipt, self._on_receipt)
        return watched


class Watched:
    """A receipt that becomes complete when its answer ends."""

    def __init__(self, receipt: Receipt, on_receipt: ReceiptHandler | None) -> None:
        self.receipt = receipt
        self._on_receipt = on_receipt
        self._tail = b""
        self._ended = False

    def see(self, chunk: bytes) -> bytes:
        """Remember the end of what has come so far."""
        self._tail = (self._tail + chunk)[-TAIL_BYTES:]
        return chunk

    @property
    def awaits_receipt(self) -> bool:
        """Return whether a stream's events are over, so that its receipt comes at once."""
        return DONE in self._tail and not self._ended

    def end(self) -> None:
        """Complete the receipt and hand it over, once."""
        if self._ended:
            return
        self._ended = True
        self.receipt = self.receipt.closed_by(self._tail)
        if self._on_receipt:
            self._on_receipt(self.receipt)


class _SyncTee(httpx2.SyncByteStream):
    def __init__(self, stream: Any, watched: Watched) -> None:
        self._stream = stream
        self._watched = watched
        self._chunks: Iterator[bytes] = iter(())

    def __iter__(self) -> Iterator[bytes]:
        self._chunks = iter(self._stream)
        for chunk in self._chunks:
            yield self._watched.see(chunk)

    def close(self) -> None:
        if self._watched.awaits_receipt:
            self._read_on()
        self._stream.close()
        self._watched.end()

    def _read_on(self) -> None:
        """Read what comes after `[DONE]`, where the SDK stops: the receipt, and the end, which frees the connection."""
        with suppress(httpx2.HTTPError):
            for chunk in self._chunks:
                self._watched.see(chunk)


class _AsyncTee(httpx2.AsyncByteStream):
    def __init__(self, stream: Any, watched: Watched) -> None:
        self._stream = stream
        self._watched = watched

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            yield self._watched.see(chunk)

    async def aclose(self) -> None:
        await self._stream.aclose()
        self._watched.end()


class _Metered:
    """What both clients are made with."""

    def __init__(
        self,
        signer: RequestSigner,
        *,
        max_cost_microusd: int | None = None,
        on_receipt: ReceiptHandler | None = None,
        **options: Any,
    ) -> None:
        options = {"timeout": TIMEOUT, **options}
        super().__init__(auth=DPoPAuth2(signer), **options)  # type: ignore[call-arg]
        self._defaults = CallDefaults(max_cost_microusd, on_receipt)


class GatewayHttpClient(_Metered, httpx2.Client):
    """An `httpx2.Client` for `OpenAI(http_client=...)`."""

    def send(self, request: httpx2.Request, *, stream: bool = False, **options: Any) -> httpx2.Response:
        """Send one attempt of a call. The SDK's own auth, made for API keys, is left out."""
        self._defaults.complete(request)
        options.pop("auth", None)
        try:
            response = super().send(request, stream=True, **options)
        except GatewayUnreachable as error:  # told in the SDK's language, so that it tries again
            raise httpx2.ConnectError(str(error), request=request) from error
        if watched := self._defaults.watch(response):
            response.stream = _SyncTee(response.stream, watched)
        if not stream:
            response.read()
        return response


class AsyncGatewayHttpClient(_Metered, httpx2.AsyncClient):
    """An `httpx2.AsyncClient` for `AsyncOpenAI(http_client=...)`."""

    async def send(self, request: httpx2.Request, *, stream: bool = False, **options: Any) -> httpx2.Response:
        """Send one attempt of a call. The SDK's own auth, made for API keys, is left out."""
        self._defaults.complete(request)
        options.pop("auth", None)
        try:
            response = await super().send(request, stream=True, **options)
        except GatewayUnreachable as error:  # told in the SDK's language, so that it tries again
            raise httpx2.ConnectError(str(error), request=request) from error
        if watched := self._defaults.watch(response):
            response.stream = _AsyncTee(response.stream, watched)
        if not stream:
            await response.aread()
        return response
