"""The HTTP client: what it writes, and when a connection may carry another request."""

import asyncio
import contextlib
import io
import socket
import ssl
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import uvloop
from yarl import URL

from gateway.core.outbound.bodies import read_bounded
from gateway.core.outbound.client import Body, Client, render_head
from gateway.core.outbound.failures import Failure, MisconfiguredError, failure_of
from gateway.core.outbound.response import Response
from gateway.core.outbound.timeouts import answer_timeout
from tests.inference.adapters.certificates import self_signed
from tests.inference.adapters.wire import GOOD, Wire, chunk, chunked_head, response, serving, until_set_and_noticed
from tests.support.concurrency import eventually_async

PHASES = answer_timeout(60.0)
JSON = Body("application/json", b"{}")


@pytest.fixture(scope="module", params=[asyncio.DefaultEventLoopPolicy, uvloop.EventLoopPolicy])
def event_loop_policy(request: pytest.FixtureRequest) -> asyncio.AbstractEventLoopPolicy:
    policy: asyncio.AbstractEventLoopPolicy = request.param()
    return policy


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    opened = Client()
    yield opened
    await opened.close()


async def answer_of(
    client: Client, wire: Wire, body: Body | None = JSON, on_send: Callable[[], None] = lambda: None
) -> bytes:
    """Send a request and read its answer."""
    return await _read(await client.send("POST", URL(wire.base_url), {}, body, PHASES, on_send))


@pytest.mark.parametrize("value", ["a\r\nX: 1", "a\nb", "a\0b", "a\x7f", "ä"])
@pytest.mark.parametrize("place", ["header", "media type"])
def test_a_value_that_could_end_its_line_is_refused(value: str, place: str) -> None:
    headers, media_type = ({"X-Key": value}, "text/plain") if place == "header" else ({}, value)
    with pytest.raises(MisconfiguredError):
        render_head("POST", URL("http://upstream/v1"), headers, Body(media_type, b""))


@pytest.mark.parametrize(
    ("url", "line", "host"),
    [
        ("http://upstream/v1/chat", b"GET /v1/chat HTTP/1.1", b"upstream"),
        ("https://upstream:443/a%20b?x=%C3%A4", b"GET /a%20b?x=%C3%A4 HTTP/1.1", b"upstream"),
        ("http://upstream:8080", b"GET / HTTP/1.1", b"upstream:8080"),
        ("http://[::1]:8080/", b"GET / HTTP/1.1", b"[::1]:8080"),
        ("http://bücher.example/ä", b"GET /%C3%A4 HTTP/1.1", b"xn--bcher-kva.example"),
    ],
)
def test_the_request_line_and_the_host_are_those_of_the_url(url: str, line: bytes, host: bytes) -> None:
    first, second, *_ = render_head("GET", URL(url), {}, None).split(b"\r\n")
    assert first == line
    assert second == b"Host: " + host


async def test_requests_use_one_connection_in_turn(client: Client) -> None:
    seen: list[int] = []
    async with serving(response(GOOD)) as wire:
        for _ in range(3):
            assert await answer_of(client, wire, on_send=lambda: seen.append(len(wire.requests))) == GOOD
        assert [request.connection for request in wire.requests] == [1, 1, 1]
        assert [request.body for request in wire.requests] == [b"{}"] * 3
    assert seen == [0, 1, 2]


async def test_a_request_without_a_body_has_no_length(client: Client) -> None:
    async with serving(response(GOOD)) as wire:
        await answer_of(client, wire, None)
    assert not {"Content-Length", "Content-Type"} & set(wire.requests[0].headers)


@pytest.mark.parametrize("in_pieces", [False, True])
async def test_a_request_that_is_not_written_to_its_end_has_its_connection_cut(client: Client, in_pieces: bool) -> None:
    """The next request would be taken for the rest of it."""
    data = b"x" * 20_000_000
    answered, received = asyncio.Event(), list[bytes]()
    ended = asyncio.Event()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(response(b"", status="413 Too Large"))
        await answered.wait()
        with contextlib.suppress(ConnectionError):
            while piece := await reader.read(65536):
                received.append(piece)
        writer.close()
        ended.set()

    async with await asyncio.start_server(connected, "127.0.0.1", 0, limit=1024) as server:
        url = URL(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        body = Body("text/plain", aiohttp.BytesIOPayload(io.BytesIO(data)) if in_pieces else data)
        answer = await client.send("POST", url, {}, body, PHASES)
        assert answer.status == 413
        assert answer.closed
        assert not client._connector._conns
        answered.set()
        async with asyncio.timeout(60):
            await ended.wait()
    assert sum(map(len, received)) < len(data)


async def test_a_connection_that_is_gone_before_anything_was_written_took_nothing(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[bool] = []
    connect = client._connect

    async def connect_and_lose(*args: Any) -> aiohttp.connector.Connection:
        connection = await connect(*args)
        assert connection.transport is not None
        connection.transport.abort()
        return connection

    monkeypatch.setattr(client, "_connect", connect_and_lose)
    async with serving(response(GOOD)) as wire:
        with pytest.raises(Exception, match="before anything was sent") as raised:
            await answer_of(client, wire, on_send=lambda: sent.append(True))
        assert failure_of(raised.value) is Failure.NOT_SENT
        assert not sent
        assert not wire.requests


async def test_a_closed_response_fails_whoever_still_reads_it(client: Client) -> None:
    async def begin(writer: asyncio.StreamWriter) -> None:
        writer.write(chunked_head() + chunk(b"some"))

    async with serving(begin) as wire:
        answer = await client.send("POST", URL(wire.base_url), {}, JSON, PHASES)
        assert await answer.content.readany() == b"some"
        reading = asyncio.ensure_future(answer.content.readany())
        await asyncio.sleep(0)
        answer.close()
        with pytest.raises(aiohttp.ClientConnectionError, match="closed"):
            await reading
        await wire.left.wait()


async def test_a_response_that_never_ends_is_timed_out_although_it_is_never_silent(client: Client) -> None:
    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(chunked_head())
        while not writer.is_closing():
            writer.write(chunk(b"."))
            await writer.drain()
            await asyncio.sleep(0.01)

    phases = aiohttp.ClientTimeout(total=1.0, connect=60, sock_read=60)
    async with serving(drip) as wire:
        answer = await client.send("POST", URL(wire.base_url), {}, JSON, phases)
        with pytest.raises(TimeoutError) as raised:
            await read_bounded(answer.content, 1_000_000)
        answer.close()
        assert failure_of(raised.value) is Failure.TIMED_OUT
        await wire.left.wait()


async def test_a_limit_that_passes_in_the_turn_in_which_the_head_arrives_ends_the_body(client: Client) -> None:
    """Nothing else would: the limit has passed, and nothing more arrives."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url, phases = _url_of(listener), aiohttp.ClientTimeout(total=1.0, connect=60, sock_read=60)
        sending = asyncio.ensure_future(client.send("POST", url, {}, JSON, phases))
        peer = await asyncio.to_thread(_accept_and_read, listener)
        with peer:
            peer.sendall(chunked_head())
            time.sleep(1.1)  # noqa: ASYNC251 - the head and the limit are both there when the loop goes on
            with pytest.raises(aiohttp.SocketTimeoutError):
                await _read(await sending)


async def test_silence_behind_an_informational_response_is_limited(client: Client) -> None:
    phases = aiohttp.ClientTimeout(total=60, connect=60, sock_read=0.1)
    async with serving(b"HTTP/1.1 103 Early Hints\r\n\r\n") as wire:
        async with asyncio.timeout(60):
            with pytest.raises(aiohttp.SocketTimeoutError):
                await client.send("POST", URL(wire.base_url), {}, JSON, phases)


async def test_a_request_may_take_longer_than_the_other_side_may_be_silent(client: Client) -> None:
    phases = aiohttp.ClientTimeout(total=60, connect=60, sock_read=0.05)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        body = Body("text/plain", aiohttp.BytesIOPayload(io.BytesIO(b"x" * 20_000_000)))
        sending = asyncio.ensure_future(client.send("POST", _url_of(listener), {}, body, phases))
        peer = await asyncio.to_thread(_accept_and_read, listener)
        with peer:
            peer.sendall(b"HTTP/1.1 103 Early Hints\r\n\r\n")
            await asyncio.sleep(0.2)
            assert not sending.done()
            sending.cancel()
            await asyncio.wait([sending])


async def test_unsolicited_bytes_are_not_the_beginning_of_the_next_answer(client: Client) -> None:
    async def answer_and_begin_another(writer: asyncio.StreamWriter) -> None:
        writer.write(response(GOOD))
        await writer.drain()
        await asyncio.sleep(0.02)
        writer.write(b"HTTP/1.1 200 OK\r\nX-Part: one")
        await writer.drain()
        is_written.set()

    is_written = asyncio.Event()
    evil = b"\r\n" + response(b"evil")
    async with serving(answer_and_begin_another, evil, response(GOOD)) as wire:
        assert await answer_of(client, wire) == GOOD
        await until_set_and_noticed(is_written)
        await answer_of(client, wire)
        assert [request.connection for request in wire.requests] == [1, 2]


@pytest.mark.parametrize(
    "afterwards", [response(b"evil"), b"HTTP/1.1 200 OK\r\nX-Part: one", b""], ids=["answer", "part", "end"]
)
async def test_what_the_event_loop_has_not_read_yet_ends_an_idle_connection_too(
    client: Client, afterwards: bytes
) -> None:
    """A busy loop sends the next request before it reads what arrived meanwhile."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(60)
        asking = asyncio.ensure_future(client.send("POST", _url_of(listener), {}, JSON, PHASES))
        with await asyncio.to_thread(_accept_and_read, listener) as first:
            first.sendall(response(GOOD))
            assert await _read(await asking) == GOOD
            first.sendall(afterwards) if afterwards else first.shutdown(socket.SHUT_WR)
            asking = asyncio.ensure_future(client.send("POST", _url_of(listener), {}, JSON, PHASES))
            with await asyncio.to_thread(_accept_and_read, listener) as second:
                second.sendall(response(GOOD))
                assert await _read(await asking) == GOOD


async def test_an_unsolicited_answer_ends_the_connection_before_a_request(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of its answers would be taken for the one before."""
    sent: list[bool] = []

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(response(b"evil"))
        await reader.read()
        writer.close()

    async with await asyncio.start_server(connected, "127.0.0.1", 0) as server:
        url = URL(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        make = aiohttp.TCPConnector._create_connection

        async def make_slowly(*args: Any) -> Any:
            protocol = await make(*args)
            await eventually_async(lambda: protocol.should_close)
            return protocol

        monkeypatch.setattr(aiohttp.TCPConnector, "_create_connection", make_slowly)
        with pytest.raises(aiohttp.ClientConnectorError, match="spoke first") as raised:
            await client.send("POST", url, {}, JSON, PHASES, lambda: sent.append(True))
    assert failure_of(raised.value) is Failure.NOT_SENT
    assert not sent
    assert not client._connector._acquired


async def test_the_rest_of_a_request_that_nobody_waits_for_is_dropped_under_tls(client: Client, tmp_path: Path) -> None:
    data, received, began, ended = b"x" * 20_000_000, list[bytes](), asyncio.Event(), asyncio.Event()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        began.set()
        await asyncio.wait([sending])
        with contextlib.suppress(OSError):
            while piece := await reader.read(65536):
                received.append(piece)
        writer.close()
        ended.set()

    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    client._connector._ssl = trusting
    async with await asyncio.start_server(connected, "127.0.0.1", 0, limit=1024, ssl=self_signed(tmp_path)) as server:
        url = URL(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        sending = asyncio.ensure_future(client.send("POST", url, {}, Body("text/plain", data), PHASES))
        await began.wait()
        sending.cancel()
        async with asyncio.timeout(60):
            await ended.wait()
    assert sum(map(len, received)) < len(data)


class _Liar(aiohttp.BytesIOPayload):
    """A payload that is not as long as it says."""

    def __init__(self, data: bytes, size: int) -> None:
        super().__init__(io.BytesIO(data))
        self._size = size

    @property
    def size(self) -> int:
        return self._size

    async def write_with_length(self, writer: Any, content_length: int | None) -> None:
        await writer.write(self._value.read())


async def test_a_body_that_is_shorter_than_its_length_is_not_completed_by_the_next_request(client: Client) -> None:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError):
            await reader.readuntil(b"abc")
            writer.write(response(GOOD))
            await reader.read()
        writer.close()

    async with await asyncio.start_server(connected, "127.0.0.1", 0) as server:
        url = URL(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        with contextlib.suppress(aiohttp.ClientConnectionError):
            await _read(await client.send("POST", url, {}, Body("text/plain", _Liar(b"abc", 500)), PHASES))
        assert not client._connector._conns


async def test_a_body_is_not_longer_than_its_length(client: Client) -> None:
    async with serving(response(GOOD)) as wire:
        for _ in range(2):
            assert await answer_of(client, wire, Body("text/plain", _Liar(b"abcdef", 3))) == GOOD
    assert [(request.line, request.body) for request in wire.requests] == [("POST /v1 HTTP/1.1", b"abc")] * 2


async def test_closing_the_client_ends_the_calls_in_progress(client: Client) -> None:
    client._connector._limit = 2
    async with serving(chunked_head() + chunk(b"some"), _silent) as wire:
        url = URL(wire.base_url)
        answer = await client.send("POST", url, {}, JSON, PHASES)
        assert await answer.content.readany() == b"some"
        reading = asyncio.ensure_future(_read(answer))
        sending = asyncio.ensure_future(client.send("POST", url, {}, JSON, PHASES))
        await eventually_async(lambda: len(wire.requests) == 2)
        waiting = asyncio.ensure_future(client.send("POST", url, {}, JSON, PHASES))
        await eventually_async(lambda: bool(client._connector._waiters))
        await client.close()
        late = asyncio.ensure_future(client.send("POST", url, {}, JSON, PHASES))
        async with asyncio.timeout(60):
            ended = await asyncio.gather(reading, sending, waiting, late, return_exceptions=True)
    failures = [failure_of(error) for error in ended if isinstance(error, Exception)]
    assert failures == [Failure.LOST, Failure.LOST, Failure.NOT_SENT, Failure.NOT_SENT]


async def test_a_wait_for_a_connection_is_cancelled_with_its_task(client: Client) -> None:
    client._connector._limit = 1
    async with serving(_silent) as wire:
        calls = [asyncio.ensure_future(client.send("POST", URL(wire.base_url), {}, JSON, PHASES)) for _ in range(2)]
        await eventually_async(lambda: bool(wire.requests) and bool(client._connector._waiters))
        for call in reversed(calls):
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
    assert not client._connector._waiters
    assert not client._connector._acquired


async def test_a_wait_that_is_cancelled_as_the_pool_closes_is_cancelled(client: Client) -> None:
    client._connector._limit = 1
    async with serving(_silent) as wire:
        calls = [asyncio.ensure_future(client.send("POST", URL(wire.base_url), {}, JSON, PHASES)) for _ in range(2)]
        await eventually_async(lambda: bool(wire.requests) and bool(client._connector._waiters))
        calls[1].cancel()
        await client.close()
        await asyncio.wait(calls)
    assert calls[1].cancelled()


async def _silent(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(0)


async def _read(answer: Response) -> bytes:
    try:
        async with asyncio.timeout(60):
            return await read_bounded(answer.content, 1_000)
    finally:
        answer.close()


def _url_of(listener: socket.socket) -> URL:
    return URL(f"http://127.0.0.1:{listener.getsockname()[1]}/")


def _accept_and_read(listener: socket.socket) -> socket.socket:
    peer, _ = listener.accept()
    peer.recv(65536)
    return peer
