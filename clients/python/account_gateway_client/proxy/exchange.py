"""One request of a tool, and the gateway's answer on its way back."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from urllib.parse import urlsplit

import httpx

from account_gateway_client.proxy import headers, model_list, refusals
from account_gateway_client.proxy.local_request import LocalRequest, Send
from account_gateway_client.proxy.paths import MODELS, Dialect
from account_gateway_client.proxy.receipt_watch import ReceiptWatch
from account_gateway_client.proxy.refusals import Refusal
from account_gateway_client.proxy.upstream import Upstream
from account_gateway_client.receipts import Receipt

# How long the receipt of a stream may take after its last event, once the tool has left.
RECEIPT_SECONDS = 5.0


def _nothing() -> None:
    pass


class Exchange:
    """Passes one request on and its answer back. `status` is None until an answer has begun, `is_whole` tells whether the tool
    was given all of it, and `receipt` has what is known of its cost. `seen` is called with each piece of it before the tool gets the piece."""

    def __init__(self, upstream: Upstream, request: LocalRequest, dialect: Dialect, send: Send) -> None:
        self.status: int | None = None
        self.is_whole = False
        self.was_left = False
        self.seen: Callable[[], None] = _nothing
        self._watch: ReceiptWatch | None = None
        self._upstream = upstream
        self._request = request
        self._dialect = dialect
        self._send = send

    @property
    def receipt(self) -> Receipt | None:
        """Return what the answer said of its cost so far."""
        return self._watch.receipt if self._watch else None

    @property
    def awaits_receipt(self) -> bool:
        """Return whether only the receipt of a stream is missing."""
        return self._watch is not None and self._watch.awaits_receipt

    async def run(self, extra: Sequence[headers.RawHeader] = (), lost: Callable[[], None] = _nothing) -> None:
        """Send the request with `extra` headers and pass its answer on, until it is over or the tool leaves.

        `lost` is called when the request may have been taken without an answer. Raises Refusal where no answer begins, and
        httpx.TransportError where it breaks off.
        """
        passing = asyncio.create_task(self._pass_on([*headers.onwards(self._request.raw_headers), *extra], lost))
        leaving = asyncio.create_task(self._left(passing))
        try:
            await asyncio.wait({passing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.was_left = not passing.done()
            leaving.cancel()
            passing.cancel()  # which closes the connection to the gateway
            with suppress(asyncio.CancelledError):
                await passing

    async def _left(self, passing: "asyncio.Task[None]") -> None:
        """Return when the tool has left; where only the receipt of its answer is missing, that may still come."""
        await self._request.left()
        if self.awaits_receipt:
            await asyncio.wait({passing}, timeout=RECEIPT_SECONDS)

    async def _pass_on(self, sent: headers.RawHeaders, lost: Callable[[], None]) -> None:
        request = self._request
        content = request.content if headers.has_body(request.headers) else None
        response = await self._upstream.send(request.method, request.target, sent, content, lost=lost)
        try:
            request.answered()
            self.status, self._watch = response.status_code, ReceiptWatch.of(response.headers)
            self.seen()
            if response.is_redirect:
                raise _moved(response)
            if self._has_models_of_messages(response):
                await self._send_models(response)
            else:
                await self._send_answer(response)
        finally:
            await response.aclose()

    async def _send_answer(self, response: httpx.Response) -> None:
        await self._send_head(headers.backwards(response.headers.raw))
        watch = self._watch if _is_stream_of_events(response) else None
        async for piece in response.aiter_raw():
            if watch:
                watch.see(piece)
                self.seen()
            await self._send({"type": "http.response.body", "body": piece, "more_body": True})
        await self._send_end()

    async def _send_models(self, response: httpx.Response) -> None:
        try:
            body = model_list.in_messages_shape(self._request.path, await response.aread())
        except (LookupError, ValueError) as error:
            raise Refusal(502, "upstream_invalid", "The gateway's list of models cannot be read.") from error
        kept = [each for each in headers.backwards(response.headers.raw) if each[0].lower() != b"content-length"]
        await self._send_head([*kept, (b"content-length", str(len(body)).encode())])
        await self._send({"type": "http.response.body", "body": body, "more_body": True})
        await self._send_end()

    async def _send_head(self, answered: headers.RawHeaders) -> None:
        await self._send({"type": "http.response.start", "status": self.status, "headers": answered})

    async def _send_end(self) -> None:
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        self.is_whole = True

    def _has_models_of_messages(self, response: httpx.Response) -> bool:
        is_models = self._dialect is Dialect.MESSAGES and self._request.path.startswith(MODELS)
        return is_models and response.status_code == httpx.codes.OK


def _is_stream_of_events(response: httpx.Response) -> bool:
    """Return whether an answer ends with its receipt. What looks like one in any other is part of a model's answer."""
    media_type: str = response.headers.get("Content-Type", "")
    return media_type.startswith("text/event-stream")


def _moved(response: httpx.Response) -> Refusal:
    """Return the refusal in place of a redirect, which a tool would follow without a proof, and with the proxy's secret."""
    try:
        place = urlsplit(response.headers.get("Location", ""))
        to = f"{place.scheme}://{place.netloc}"
    except ValueError:
        to = "what is no address"
    message = f"The gateway sends requests on to {to}: sign in at its own address."
    return refusals.Refusal(502, "upstream_error", message)
