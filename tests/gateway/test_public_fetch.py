"""Fetching what a stranger names: attacks on the address, the answer, and the time and memory that it may take."""

import asyncio
import gzip
import socket
from collections.abc import Iterator
from typing import Any

import pytest
import uvloop

from gateway.core.outbound.public_addresses import is_public
from gateway.core.outbound.public_fetch import FetchError, NotPublicError, PublicFetcher
from tests.factories.images import PNG
from tests.support.image_host import ImageHost, answer, resolving

MAX_BYTES = 1000


@pytest.fixture(scope="module")
def event_loop_policy() -> asyncio.AbstractEventLoopPolicy:
    return uvloop.EventLoopPolicy()  # production's, under which TLS connections close in another way


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ImageHost]:
    with ImageHost(tmp_path_factory.mktemp("image-host")) as running:
        yield running


@pytest.fixture(autouse=True)
def _forget(host: ImageHost) -> None:
    host.pages.clear()
    host.requests.clear()
    host.left.clear()


async def fetch(fetcher: PublicFetcher, url: str) -> bytes:
    return await fetcher.fetch(url, max_bytes=MAX_BYTES, accept="image/png")


async def refusal(fetcher: PublicFetcher, url: str) -> str:
    with pytest.raises(FetchError) as refused:
        await fetch(fetcher, url)
    return str(refused.value)


async def test_a_public_page_is_fetched_without_anything_that_tells_of_the_caller(host: ImageHost) -> None:
    host.pages["/a.png?size=1"] = answer(PNG)
    assert await fetch(host.fetcher(), host.url("/a.png?size=1")) == PNG
    [request] = host.requests
    assert request.startswith("GET /a.png?size=1 HTTP/1.1\r\n")
    names = {line.partition(":")[0] for line in request.strip().split("\r\n")[1:]}
    assert names == {"Host", "User-Agent", "Accept", "Accept-Encoding", "Connection"}


async def test_a_body_without_a_length_is_read_to_its_end(host: ImageHost) -> None:
    host.pages["/"] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
    assert await fetch(host.fetcher(), host.url("/")) == b"abc"


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["::1"],
        ["::ffff:127.0.0.1"],
        ["10.1.2.3"],
        ["169.254.169.254"],
        ["64:ff9b::7f00:1"],
        ["8.8.8.8", "127.0.0.1"],
        ["2606:4700::1111", "fd00::1"],
        ["fe80::1%lo"],
        [],
    ],
    ids=str,
)
async def test_a_name_of_a_private_address_is_not_connected_to(host: ImageHost, addresses: list[str]) -> None:
    host.pages["/"] = answer(PNG)
    with pytest.raises(NotPublicError) as refused:
        await fetch(host.fetcher(allowed=is_public, look_up=resolving(*addresses)), host.url("/"))
    assert str(refused.value) == "its host has no public address"
    assert host.requests == []


async def test_one_private_address_among_others_is_enough(host: ImageHost) -> None:
    host.pages["/"] = answer(PNG)
    with pytest.raises(NotPublicError):
        await fetch(host.fetcher(look_up=resolving("127.0.0.1", "10.0.0.1")), host.url("/"))
    assert host.requests == []


async def test_a_name_that_does_not_resolve_gets_the_same_error(host: ImageHost) -> None:
    def look_up(*_: Any) -> list[Any]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    assert await refusal(PublicFetcher(look_up=look_up), host.url("/")) == "its host has no public address"


@pytest.mark.parametrize("name", ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0x7f.1", "127.1", "2130706433", "0"])
async def test_an_address_in_place_of_a_name_is_checked_as_well(host: ImageHost, name: str) -> None:
    host.pages["/"] = answer(PNG)
    with pytest.raises(FetchError):
        await fetch(host.fetcher(allowed=is_public, look_up=socket.getaddrinfo), host.url("/", name))
    assert host.requests == []


async def test_a_name_is_looked_up_once_and_that_address_is_connected_to(host: ImageHost) -> None:
    """DNS rebinding: the second answer for a name would be another address than the one that was checked."""
    looked_up: list[str] = []

    def look_up(name: str, port: int, *rest: Any) -> list[Any]:
        looked_up.append(name)
        return resolving("127.0.0.1" if len(looked_up) == 1 else "127.0.0.2")(name, port)

    host.pages["/"] = answer(PNG)
    fetcher = host.fetcher(look_up=look_up)
    assert await fetch(fetcher, host.url("/")) == PNG
    assert looked_up == ["images.example"]
    with pytest.raises(NotPublicError):  # nothing of the first look-up or its connection is used again
        await fetch(fetcher, host.url("/"))
    assert len(host.requests) == 1


@pytest.mark.parametrize(
    "status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent", "304 Same"]
)
async def test_a_redirect_is_not_followed(host: ImageHost, status: str) -> None:
    host.pages["/"] = answer(b"", status=status, headers=f"Location: {host.url('/private', 'other.example')}\r\n")
    host.pages["/private"] = answer(PNG)
    assert "redirects" in await refusal(host.fetcher(), host.url("/"))
    assert len(host.requests) == 1


@pytest.mark.parametrize("status", ["201 Created", "204 No Content", "206 Partial Content", "404 Not Found", "500 Oh"])
async def test_any_other_status_than_200_is_no_image(host: ImageHost, status: str) -> None:
    host.pages["/"] = answer(b"", status=status)
    assert status[:3] in await refusal(host.fetcher(), host.url("/"))


CHUNK = b"400\r\n" + b"x" * 0x400 + b"\r\n"


@pytest.mark.parametrize(
    "served",
    [
        answer(b"x" * (MAX_BYTES + 1)),
        answer(b"", length=10**15),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNK * 3 + b"0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 100_000,
    ],
    ids=["one byte", "announced", "chunked", "to the end"],
)
async def test_a_page_that_is_too_large_is_not_read(host: ImageHost, served: bytes) -> None:
    host.pages["/"] = served
    assert await refusal(host.fetcher(), host.url("/")) == "it is larger than 1000 bytes"


async def test_an_endless_page_is_left(host: ImageHost) -> None:
    def endless(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(20_000):  # far more than any buffer holds
            connection.sendall(CHUNK)

    host.pages["/"] = endless
    assert "larger" in await refusal(host.fetcher(), host.url("/"))
    assert await asyncio.to_thread(host.left.wait, 60), "the connection is still open"


@pytest.mark.parametrize("sent", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", b"HTTP/1.1 200 OK\r\nX: "])
async def test_a_page_that_never_comes_is_not_waited_for(host: ImageHost, sent: bytes) -> None:
    def silent(connection: socket.socket) -> None:
        connection.sendall(sent)
        connection.recv(1)  # until the other side leaves

    host.pages["/"] = silent
    assert await refusal(host.fetcher(seconds=0.5), host.url("/")) == "its host took too long"


async def test_a_slow_drip_ends_with_the_whole_time(host: ImageHost) -> None:
    def drip(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n")
        for _ in range(900):
            connection.sendall(b"x")
            host.closing.wait(0.05)

    host.pages["/"] = drip
    assert await refusal(host.fetcher(seconds=0.5), host.url("/")) == "its host took too long"


async def test_a_compressed_page_is_never_unpacked(host: ImageHost) -> None:
    bomb = gzip.compress(b"\0" * 10_000_000, 9)[: MAX_BYTES - 1]
    host.pages["/"] = answer(bomb, headers="Content-Encoding: gzip\r\n")
    assert "compressed" in await refusal(host.fetcher(), host.url("/"))


@pytest.mark.parametrize(
    "served", [b"", b"junk\r\n\r\n", answer(b"abc", length=100), b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 500]
)
async def test_what_is_not_http_is_an_ordinary_failure(host: ImageHost, served: bytes) -> None:
    host.pages["/"] = served
    assert await refusal(host.fetcher(), host.url("/")) == "its host did not respond as expected"


async def test_a_certificate_of_another_name_is_refused(host: ImageHost) -> None:
    host.pages["/"] = answer(PNG)
    assert await refusal(host.fetcher(), host.url("/", "third.example")) == "its host did not respond as expected"
    assert host.requests == []


async def test_a_certificate_that_nobody_knows_is_refused(host: ImageHost) -> None:
    assert await refusal(host.fetcher(tls=None), host.url("/")) == "its host did not respond as expected"
    assert host.requests == []


async def test_a_page_whose_connection_is_lost_is_requested_once(host: ImageHost) -> None:
    def hang_up(connection: socket.socket) -> None:
        connection.close()

    host.pages["/lost.png"] = hang_up
    assert await refusal(host.fetcher(), host.url("/lost.png")) == "its host did not respond as expected"
    assert len(host.requests) == 1
