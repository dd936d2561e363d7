"""HTTP clients for the official SDKs, OpenAI's and Anthropic's: signing, idempotency keys, cost limits, receipts.

OpenAI(base_url=gateway.api_url, api_key="unused", http_client=gateway.http_client(max_cost_microusd=20_000))
Anthropic(base_url=gateway.base_url, api_key="unused", http_client=gateway.http_client(max_cost_microusd=20_000))

An SDK takes clients of httpx or of httpx2, depending on its version. The two libraries have the same classes, so what
is here works with both; `sdk_httpx` and `sdk_httpx2` join it with their classes.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from account_gateway_client.call_watch import CallDefaults, ReceiptHandler, Watched
from account_gateway_client.errors import GatewayUnreachable
from account_gateway_client.signing import RequestSigner

SDKS = ("openai", "anthropic")

# The SDKs' own defaults: a model may take its time, a connection may not.
TIMEOUT_SECONDS, CONNECT_SECONDS = 600.0, 5.0


def clients(sdk: str | None = None) -> ModuleType:
    """Import the clients of the library that an SDK takes, or else the first of `SDKS` that is installed. Raises ImportError
    if there is none."""
    return import_module(f"account_gateway_client.sdk_{_library(sdk)}")


def _library(sdk: str | None) -> str:
    """Return `httpx2` or `httpx`. An SDK's own client tells which it is; without one, the newer one is taken."""
    sdk = sdk or next(filter(find_spec, SDKS), None)
    if sdk is not None:
        kinds = import_module(sdk).DefaultHttpxClient.__mro__
        return "httpx2" if any(kind.__module__.partition(".")[0] == "httpx2" for kind in kinds) else "httpx"
    if not (find_spec("httpx2") or find_spec("httpx")):
        raise ImportError("Install an SDK, or httpx: account-gateway-client[openai], [anthropic] or [httpx].")
    return "httpx2" if find_spec("httpx2") else "httpx"


class SyncTee:
    """Passes a response's bytes on, and ends its receipt when it is closed."""

    library: Any

    def __init__(self, stream: Any, watched: Watched) -> None:
        self._stream = stream
        self._watched = watched
        self._chunks: Iterator[bytes] = iter(())

    def __iter__(self) -> Iterator[bytes]:
        self._chunks = iter(self._stream)
        for chunk in self._chunks:
            yield self._watched.see(chunk)

    def close(self) -> None:
        """Close the response and end its receipt."""
        if self._watched.awaits_receipt:
            self._read_on()
        self._stream.close()
        self._watched.end()

    def _read_on(self) -> None:
        """Read what comes after the last event, where a reader may stop: the receipt, and the end, which frees the
        connection."""
        with suppress(self.library.HTTPError):
            for chunk in self._chunks:
                self._watched.see(chunk)


class AsyncTee:
    """Does the same on an event loop."""

    library: Any

    def __init__(self, stream: Any, watched: Watched) -> None:
        self._stream = stream
        self._watched = watched
        self._chunks: AsyncIterator[bytes] = aiter(stream)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._chunks:
            yield self._watched.see(chunk)

    async def aclose(self) -> None:
        """Close the response and end its receipt."""
        if self._watched.awaits_receipt:
            await self._read_on()
        await self._stream.aclose()
        self._watched.end()

    async def _read_on(self) -> None:
        """Read what comes after the last event, where older SDKs stop."""
        with suppress(self.library.HTTPError):
            async for chunk in self._chunks:
                self._watched.see(chunk)


class Metered:
    """What both clients are made with."""

    library: Any
    signs_with: type[Any]
    tee: type[Any]

    def __init__(
        self,
        signer: RequestSigner,
        *,
        max_cost_microusd: int | None = None,
        on_receipt: ReceiptHandler | None = None,
        **options: Any,
    ) -> None:
        options = {"timeout": self.library.Timeout(TIMEOUT_SECONDS, connect=CONNECT_SECONDS), **options}
        super().__init__(auth=self.signs_with(signer), **options)  # type: ignore[call-arg]
        self._defaults = CallDefaults(max_cost_microusd, on_receipt)


class MeteredClient(Metered):
    """Sends metered requests; the other base class is the library's `Client`."""

    def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
        """Send one attempt of a call. The SDK's own auth, made for API keys, is left out."""
        self._defaults.complete(request)
        options.pop("auth", None)
        try:
            response = super().send(request, stream=True, **options)  # type: ignore[misc]
        except GatewayUnreachable as error:  # in the SDK's terms, so that it tries again
            raise self.library.ConnectError(str(error), request=request) from error
        if watched := self._defaults.watch(response):
            response.stream = self.tee(response.stream, watched)
        if not stream:
            response.read()
        return response


class MeteredAsyncClient(Metered):
    """Does the same for the library's `AsyncClient`."""

    async def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
        """Send one attempt of a call. The SDK's own auth, made for API keys, is left out."""
        self._defaults.complete(request)
        options.pop("auth", None)
        try:
            response = await super().send(request, stream=True, **options)  # type: ignore[misc]
        except GatewayUnreachable as error:  # in the SDK's terms, so that it tries again
            raise self.library.ConnectError(str(error), request=request) from error
        if watched := self._defaults.watch(response):
            response.stream = self.tee(response.stream, watched)
        if not stream:
            await response.aread()
        return response
