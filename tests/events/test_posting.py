"""Posting to an endpoint: attacks on the address, the answer, and the time and memory that it may take."""

import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway.core.events.adapters.posting import NO_ANSWER, Answer, Poster
from gateway.core.outbound.fetch_shares import LOOK_UPS_MAX
from gateway.core.outbound.public_addresses import is_public
from tests.support.concurrency import PATIENCE_SECONDS, eventually_async
from tests.support.event_receiver import EventReceiver
from tests.support.image_host import certificates, resolving

BODY, HEADERS = b'{"id":"evt_1"}', {"Content-Type": "application/json", "webhook-id": "evt_1"}
NOT_PUBLIC = "its host has no public address"


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[EventReceiver, Path]]:
    certificate, key, authority = certificates(tmp_path_factory.mktemp("certificates"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with EventReceiver(context) as running:
        yield running, authority


@pytest.fixture
def host(tls: tuple[EventReceiver, Path]) -> EventReceiver:
    receiver, _ = tls
    receiver.received.clear()
    receiver.reply = lambda received: 204
    return receiver


@pytest.fixture
def poster(tls: tuple[EventReceiver, Path]) -> Any:
    """Build a poster that resolves every name to the receiver, treats loopback as public, and is patient."""

    def build(**settings: Any) -> Poster:
        trusted = ssl.create_default_context(cafile=str(tls[1]))
        ours = {"allowed": {"127.0.0.1"}.__contains__, "look_up": resolving("127.0.0.1"), "tls": trusted}
        return Poster(**{**ours, "seconds": PATIENCE_SECONDS, **settings})

    return build


def url(host: EventReceiver, name: str = "images.example") -> str:
    return f"https://{name}:{host.port}/hooks?a=b"


async def post(poster: Poster, address: str, times: int = 1) -> Answer:
    async with poster.connected(address, at_once=2) as line:
        for _ in range(times):
            answer = await line.post(BODY, HEADERS)
        return answer


async def test_the_body_arrives_as_it_is_over_one_connection(host: EventReceiver, poster: Any) -> None:
    host.reply = lambda received: (200, b"taken,\nthanks")
    answer = await post(poster(), url(host), times=3)
    assert (answer.status, answer.excerpt, answer.error) == (200, "taken, thanks", "")
    assert [received.body for received in host.received] == [BODY] * 3
    assert len({received.peer for received in host.received}) == 1
    [received, *_] = host.received
    assert received.path == "/hooks?a=b"
    assert set(received.headers) == {
        *("host", "user-agent", "accept", "accept-encoding", "content-length", "content-type", "webhook-id")
    }


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed(host: EventReceiver, poster: Any, status: int) -> None:
    def redirect(connection: socket.socket) -> None:
        to = url(host, "other.example")
        connection.sendall(f"HTTP/1.1 {status} Moved\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n".encode())

    host.reply = lambda received: redirect
    assert (await post(poster(), url(host))).status == status
    assert len(host.received) == 1


@pytest.mark.parametrize(
    "addresses",
    [["127.0.0.1"], ["::1"], ["10.1.2.3"], ["169.254.169.254"], ["8.8.8.8", "127.0.0.1"], ["::ffff:127.0.0.1"], []],
    ids=str,
)
async def test_a_name_of_a_private_address_is_not_connected_to(
    host: EventReceiver, poster: Any, addresses: list[str]
) -> None:
    answer = await post(poster(allowed=is_public, look_up=resolving(*addresses)), url(host))
    assert (answer.status, answer.error) == (None, NOT_PUBLIC)
    assert host.received == []


async def test_dns_that_changes_between_check_and_connection(host: EventReceiver, poster: Any) -> None:
    """The resolver's answer is checked, and the address that is connected to once more."""
    checked: list[str] = []

    def allowed(address: str) -> bool:
        checked.append(address)
        return len(checked) == 1

    assert (await post(poster(allowed=allowed), url(host))).error == NOT_PUBLIC
    assert checked == ["127.0.0.1"] * 2
    assert host.received == []


async def test_a_name_server_that_hangs_takes_no_more_threads_with_each_turn(host: EventReceiver, poster: Any) -> None:
    """A thread cannot be stopped, and all endpoints share them."""
    asked: list[str] = []
    answering = threading.Event()

    def hang(name: str, *rest: Any) -> Any:
        asked.append(name)
        answering.wait()
        return []

    dead = poster(look_up=hang, seconds=0.1)
    try:
        while len(asked) < LOOK_UPS_MAX:
            assert (await post(dead, url(host, "dead.example"))).error == NO_ANSWER
        for _ in range(3):
            assert (await post(dead, url(host, "dead.example"))).error == NO_ANSWER
        assert asked == ["dead.example"] * LOOK_UPS_MAX
        assert (await post(poster(), url(host))).status == 204
    finally:
        answering.set()


@pytest.mark.parametrize("name", ["127.0.0.1", "[::1]", "0x7f.1", "2130706433"])
async def test_an_address_in_place_of_a_name_is_checked_as_well(host: EventReceiver, poster: Any, name: str) -> None:
    answer = await post(poster(allowed=is_public, look_up=socket.getaddrinfo), url(host, name))
    assert answer.status is None
    assert host.received == []


async def test_loopback_without_tls_is_for_development_alone(settings: Any) -> None:
    with EventReceiver() as receiver:
        assert (await post(Poster(), receiver.url)).status == 204
        settings.EVENTS_ON_LOOPBACK = False
        assert (await post(Poster(), receiver.url)).error == NOT_PUBLIC
        assert len(receiver.received) == 1


async def test_a_certificate_that_nobody_trusts(host: EventReceiver, poster: Any) -> None:
    answer = await post(poster(tls=None), url(host))
    assert answer.error.startswith("its certificate is not trusted: ")
    assert host.received == []


async def test_nobody_listens(poster: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    answer = await post(poster(), f"https://images.example:{port}/")
    assert answer.error.startswith("it could not be connected to: ")


def silence(connection: socket.socket) -> None:
    """Wait for the client to leave."""
    with contextlib.suppress(OSError):
        connection.recv(1)


async def test_an_endpoint_that_never_answers_is_left(host: EventReceiver, poster: Any) -> None:
    host.reply = lambda received: silence
    answer = await post(poster(seconds=0.2), url(host))
    assert (answer.status, answer.error) == (None, NO_ANSWER)
    assert answer.milliseconds >= 200


async def test_a_head_that_drips_is_left(host: EventReceiver, poster: Any) -> None:
    def drip(connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            for byte in b"HTTP/1.1 200 OK\r\nX: " + b"x" * 10_000:
                connection.sendall(bytes([byte]))
                host.closing.wait(0.05)

    host.reply = lambda received: drip
    assert (await post(poster(seconds=0.3), url(host))).error == NO_ANSWER


async def test_a_body_that_drips_does_not_hide_its_status(host: EventReceiver, poster: Any) -> None:
    def drip(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 503 Busy\r\nContent-Length: 1000\r\n\r\nlater")
        silence(connection)

    host.reply = lambda received: drip
    answer = await post(poster(), url(host))
    assert (answer.status, answer.excerpt, answer.error) == (503, "later", "")


async def test_ten_megabytes_are_not_read(host: EventReceiver, poster: Any) -> None:
    sent: list[int] = []

    def flood(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 500 Oh\r\nContent-Length: 100000000\r\n\r\n")
        with contextlib.suppress(OSError):
            for _ in range(1000):
                connection.sendall(b"x" * 100_000)
                sent.append(100_000)
        sent.append(0)

    host.reply = lambda received: flood
    answer = await post(poster(), url(host))
    assert answer.status == 500
    assert answer.excerpt == "x" * 300 + "…"
    await eventually_async(lambda: sent and not sent[-1])
    assert sum(sent) < 10_000_000


@pytest.mark.parametrize(
    "served",
    [
        b"",
        b"HTTP/1.1 200\r\n\r\n\x00",
        b"SSH-2.0-x\r\n",
        b"HTTP/1.1 999999 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nA: " + b"x" * 20_000,
    ],
    ids=repr,
)
async def test_what_is_not_http_is_an_error_or_a_status(host: EventReceiver, poster: Any, served: bytes) -> None:
    host.reply = lambda received: lambda connection: connection.sendall(served)
    answer = await post(poster(), url(host))
    assert (answer.status is None) == bool(answer.error)


async def test_what_is_stored_of_a_body_is_one_printable_line(host: EventReceiver, poster: Any) -> None:
    host.reply = lambda received: (400, b"a\x00b\r\nc\xff\xfe Bearer abcdefghijklmnop")
    assert (await post(poster(), url(host))).excerpt == "a b c\ufffd\ufffd [redacted]"
