"""Upstreams that send more than was requested: from the first surplus on, each connection carries one call."""

import asyncio
import contextlib
import io
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import aiohttp
import pytest
import uvloop
from yarl import URL

from gateway.core.outbound import sockets
from gateway.core.outbound.bodies import read_bounded
from gateway.core.outbound.client import Body, Client
from gateway.core.outbound.distrust import DISTRUST_SECONDS, REPORT_SECONDS, Distrust, Sign, origin_of
from gateway.core.outbound.timeouts import answer_timeout
from tests.inference.adapters.certificates import self_signed
from tests.inference.adapters.wire import Wire, chunk, chunked_head, response, serving
from tests.support.concurrency import eventually_async

CALLS = 2_000
AT_ONCE = 16
PHASES = answer_timeout(60.0)
EVIL = response(b"evil")
ORIGIN = "https://models.example:443"

Respond = Callable[[Wire, asyncio.StreamWriter], Awaitable[None]]


class Clock:
    """A clock that a test sets, in Unix seconds."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module", params=[asyncio.DefaultEventLoopPolicy, uvloop.EventLoopPolicy])
def event_loop_policy(request: pytest.FixtureRequest) -> asyncio.AbstractEventLoopPolicy:
    policy: asyncio.AbstractEventLoopPolicy = request.param()
    return policy


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def distrust(clock: Clock) -> Distrust:
    return Distrust(clock)


@pytest.fixture
async def client(distrust: Distrust) -> AsyncIterator[Client]:
    opened = Client(distrust)
    yield opened
    await opened.close()


async def ask(client: Client, url: str, body: bytes | Body) -> bytes:
    """Send a body and return the answer's."""
    sent = body if isinstance(body, Body) else Body("text/plain", body)
    answer = await client.send("POST", URL(url), {}, sent, PHASES)
    try:
        return await read_bounded(answer.content, 1_000_000)
    finally:
        answer.close()


def covered(distrust: Distrust, wire: Wire) -> bool:
    return distrust.covers(origin_of(URL(wire.base_url)))


async def test_no_call_that_begins_after_the_first_surplus_gets_the_answer_to_another(
    client: Client, distrust: Distrust
) -> None:
    """Each kept connection repeats its first answer in the instant of its second request, which nobody can recognize."""

    async def repeat_in_the_instant_of_the_next(writer: asyncio.StreamWriter) -> None:
        request = wire.requests[-1]
        earlier = [each.body for each in wire.requests[:-1] if each.connection == request.connection]
        for body in (*earlier[:1], request.body):
            writer.write(response(body))
        await writer.drain()

    async def call(number: int) -> tuple[bool, bool]:
        async with places:
            was_seen = covered(distrust, wire)
            return was_seen, await ask(client, wire.base_url, b"%d" % number) == b"%d" % number

    places = asyncio.Semaphore(AT_ONCE)
    async with serving(repeat_in_the_instant_of_the_next) as wire:
        calls = await asyncio.gather(*(call(number) for number in range(CALLS)))
        last = wire.requests[-1]
    afterwards = [is_own for was_seen, is_own in calls if was_seen]
    assert len(afterwards) > CALLS - 4 * AT_ONCE
    assert all(afterwards)
    assert last.headers["Connection"] == "close"


async def test_other_upstreams_keep_their_connections(client: Client, distrust: Distrust) -> None:
    async with serving(response(b"ok") + EVIL) as hostile, serving(response(b"ok")) as honest:
        for _ in range(3):
            assert await ask(client, hostile.base_url, b"") == b"ok"
            assert await ask(client, honest.base_url, b"") == b"ok"
        assert [request.connection for request in hostile.requests] == [1, 2, 3]
        assert [request.connection for request in honest.requests] == [1, 1, 1]
        assert (covered(distrust, hostile), covered(distrust, honest)) == (True, False)
        assert all("Connection" not in request.headers for request in honest.requests)


async def test_all_idle_connections_of_the_origin_are_closed_at_once(client: Client, distrust: Distrust) -> None:
    release, waiting = asyncio.Event(), list[asyncio.StreamWriter]()

    async def answer_together(writer: asyncio.StreamWriter) -> None:
        waiting.append(writer)
        await release.wait()
        writer.write(response(b"ok"))
        await writer.drain()

    async with serving(answer_together) as wire:
        calls = asyncio.gather(*(ask(client, wire.base_url, b"") for _ in range(3)))
        await eventually_async(lambda: len(waiting) == 3)
        release.set()
        await calls
        assert sum(map(len, client._connector._conns.values())) == 3
        waiting[0].write(EVIL)
        await eventually_async(lambda: covered(distrust, wire))
        assert not client._connector._conns
        assert await ask(client, wire.base_url, b"") == b"ok"
        assert wire.requests[-1].connection == 4


async def in_one_piece(writer: asyncio.StreamWriter) -> None:
    writer.write(response(b"ok") + EVIL)
    await writer.drain()


async def in_part(writer: asyncio.StreamWriter) -> None:
    writer.write(response(b"ok") + b"HTTP/1.1 200 OK\r\nX-Part: one")
    await writer.drain()


async def with_a_part_of_another_body(writer: asyncio.StreamWriter) -> None:
    writer.write(response(b"ok") + EVIL[:-1])
    await writer.drain()


async def with_the_end_of_the_body(writer: asyncio.StreamWriter) -> None:
    writer.write(chunked_head() + chunk(b"ok"))
    await writer.drain()
    await asyncio.sleep(0.05)
    writer.write(chunk(b"") + EVIL)
    await writer.drain()


async def in_part_with_the_end_of_the_body(writer: asyncio.StreamWriter) -> None:
    writer.write(chunked_head() + chunk(b"ok"))
    await writer.drain()
    await asyncio.sleep(0.05)
    writer.write(chunk(b"") + b"HTTP/1.1 200 OK\r\nX-Part: one")
    await writer.drain()


async def in_silence(writer: asyncio.StreamWriter) -> None:
    writer.write(response(b"ok"))
    await writer.drain()
    await asyncio.sleep(0.05)
    writer.write(b"x")
    await writer.drain()


@pytest.mark.parametrize(
    "answer",
    [
        in_one_piece,
        in_part,
        with_a_part_of_another_body,
        with_the_end_of_the_body,
        in_part_with_the_end_of_the_body,
        in_silence,
    ],
)
async def test_any_surplus_is_seen(
    client: Client, distrust: Distrust, answer: Callable[[asyncio.StreamWriter], Awaitable[None]]
) -> None:
    async with serving(answer, response(b"ok")) as wire:
        assert await ask(client, wire.base_url, b"") == b"ok"
        await eventually_async(lambda: covered(distrust, wire))
        for _ in range(2):
            assert await ask(client, wire.base_url, b"") == b"ok"
        assert [request.connection for request in wire.requests] == [1, 2, 3]


def whole(status: str) -> list[bytes]:
    return [response(b"1", status=status)]


def with_its_end_later(status: str) -> list[bytes]:
    return [chunked_head(status=status), chunk(b"1"), chunk(b"")]


def with_its_body_later(status: str) -> list[bytes]:
    return [chunked_head(status=status), chunk(b"1") + chunk(b"")]


@pytest.mark.parametrize("answer", [whole, with_its_end_later, with_its_body_later])
@pytest.mark.parametrize("is_streamed", [False, True])
@pytest.mark.parametrize("status", ["200 OK", "413 Content Too Large"])
async def test_an_answer_before_the_end_of_the_request_is_that_of_another(
    client: Client, distrust: Distrust, status: str, is_streamed: bool, answer: Callable[[str], list[bytes]]
) -> None:
    """The head of the second request on a connection gets an answer at once; the body is more than the system's buffers take.
    Only an early error can be its own."""
    answered, served, ended = asyncio.Event(), list[asyncio.StreamWriter](), list[asyncio.StreamWriter]()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        served.append(writer)
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(response(await reader.readexactly(1)))
            await reader.readuntil(b"\r\n\r\n")
            for piece in answer(status):
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0.05)
            await answered.wait()
        with contextlib.suppress(ConnectionError):
            writer.close()
            await writer.wait_closed()
        ended.append(writer)

    def large() -> Body:
        data = b"2" * 32_000_000
        return Body("text/plain", aiohttp.BytesIOPayload(io.BytesIO(data)) if is_streamed else data)

    async with await asyncio.start_server(connected, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        assert await ask(client, url, b"1") == b"1"
        try:
            if status == "200 OK":
                with pytest.raises(aiohttp.ClientConnectionError):
                    await ask(client, url, large())
            else:
                assert await ask(client, url, large()) == b"1"
        finally:
            answered.set()
        assert distrust.covers(origin_of(URL(url))) is (status == "200 OK")
        assert await ask(client, url, b"3") == b"3"
        assert len(served) == 2
        await client.close()
        await eventually_async(lambda: len(ended) == 2)


async def test_a_surplus_under_tls_is_seen_and_what_belongs_to_tls_is_none(
    client: Client, distrust: Distrust, tmp_path: Path
) -> None:
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    client._connector._ssl = trusting
    writers: list[asyncio.StreamWriter] = []

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        while await reader.read(65536):
            writer.write(response(b"ok"))
        writer.close()

    async with await asyncio.start_server(connected, "127.0.0.1", 0, ssl=self_signed(tmp_path)) as server:
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        for _ in range(2):
            assert await ask(client, url, b"") == b"ok"
        writers[-1].close()  # an idle connection ends with a message of TLS
        assert await ask(client, url, b"") == b"ok"
        assert not distrust.is_any
        writers[-1].write(EVIL)
        assert await ask(client, url, b"") == b"ok"
        await eventually_async(lambda: distrust.covers(origin_of(URL(url))))


async def until_seen_speaking_first(distrust: Distrust, ask_it: Callable[[str], Awaitable[object]]) -> None:
    """Ask a server that speaks first until it is seen."""
    served = set[asyncio.StreamWriter]()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        served.add(writer)
        with contextlib.suppress(ConnectionError):
            writer.write(EVIL)
            await reader.read()
        with contextlib.suppress(ConnectionError):
            writer.close()
            await writer.wait_closed()
        served.discard(writer)

    async with await asyncio.start_server(connected, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"

        async def try_it() -> bool:
            with contextlib.suppress(Exception):  # which one depends on what arrives first
                await ask_it(url)
            return distrust.covers(origin_of(URL(url)))

        async with asyncio.timeout(60):
            while not await try_it():
                pass
        await eventually_async(lambda: not served)


async def test_a_word_before_the_request_is_seen(client: Client, distrust: Distrust) -> None:
    await until_seen_speaking_first(distrust, lambda url: ask(client, url, b""))


async def test_a_word_before_a_handshake_is_seen(distrust: Distrust, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "distrust", distrust)
    try:
        await until_seen_speaking_first(distrust, lambda url: sockets.socket_session().ws_connect(url))
    finally:
        await sockets.close_socket_session()


@pytest.mark.parametrize("farewell", [b"", response(b"", status="408 Request Timeout", extra="Connection: close\r\n")])
async def test_the_end_of_an_idle_connection_is_no_surplus(client: Client, distrust: Distrust, farewell: bytes) -> None:
    async def answer_and_leave(writer: asyncio.StreamWriter) -> None:
        writer.write(response(b"ok"))
        await writer.drain()
        await asyncio.sleep(0.02)
        writer.write(farewell)
        writer.close()

    async with serving(answer_and_leave) as wire:
        for _ in range(3):
            assert await ask(client, wire.base_url, b"") == b"ok"
            await wire.left.wait()
            wire.left.clear()
        assert not distrust.is_any


async def test_connections_are_reused_again_after_a_day(client: Client, distrust: Distrust, clock: Clock) -> None:
    async with serving(response(b"ok") + EVIL, response(b"ok")) as wire:
        await ask(client, wire.base_url, b"")
        clock.now += DISTRUST_SECONDS - 1
        for _ in range(2):
            await ask(client, wire.base_url, b"")
        clock.now += 1
        for _ in range(2):
            await ask(client, wire.base_url, b"")
        assert [request.connection for request in wire.requests] == [1, 2, 3, 4, 4]


async def test_connections_are_reused_again_when_an_operator_allows_it(
    client: Client, distrust: Distrust, clock: Clock
) -> None:
    async with serving(response(b"ok") + EVIL, response(b"ok")) as wire:
        await ask(client, wire.base_url, b"")
        await ask(client, wire.base_url, b"")
        distrust.learn({origin_of(URL(wire.base_url)): Sign(seen_at=clock.now, trusted_at=clock.now)})
        for _ in range(2):
            await ask(client, wire.base_url, b"")
        assert [request.connection for request in wire.requests] == [1, 2, 3, 3]


def test_what_another_process_saw_counts(distrust: Distrust, clock: Clock) -> None:
    distrust.learn({ORIGIN: Sign(seen_at=clock.now)})
    assert distrust.covers(ORIGIN)
    assert not distrust.covers("http://models.example:80")
    distrust.learn({})
    assert not distrust.covers(ORIGIN)


def test_a_surplus_after_an_operators_decision_counts_again(distrust: Distrust, clock: Clock) -> None:
    distrust.see(ORIGIN)
    distrust.learn({ORIGIN: Sign(seen_at=clock.now, trusted_at=clock.now + 1)})
    assert not distrust.covers(ORIGIN)
    clock.now += 2
    distrust.see(ORIGIN)
    assert distrust.covers(ORIGIN)


def test_a_surplus_is_reported_at_once_and_then_once_a_minute(distrust: Distrust, clock: Clock) -> None:
    reported: list[tuple[str, float]] = []
    distrust.notify(lambda origin: reported.append((origin, clock.now)))
    began = clock.now
    for _ in range(int(REPORT_SECONDS) * 2):
        distrust.see(ORIGIN)
        clock.now += 1
    assert reported == [(ORIGIN, began), (ORIGIN, began + REPORT_SECONDS)]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://models.example/v1", "https://models.example:443"),
        ("https://MODELS.example:443/other", "https://models.example:443"),
        ("http://models.example:8080/v1", "http://models.example:8080"),
        ("http://[::1]:8080/v1", "http://[::1]:8080"),
        ("https://bücher.example/v1", "https://xn--bcher-kva.example:443"),
    ],
)
def test_the_origin_is_that_of_the_pool(url: str, expected: str) -> None:
    assert origin_of(URL(url)) == expected
