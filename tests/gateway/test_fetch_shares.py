"""What one account may take of a process's fetching: however slow its hosts and name servers are, the others go on."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gateway.core.outbound import fetch_shares
from gateway.core.outbound.public_fetch import BusyError, FetchError, PublicFetcher
from gateway.core.runtime.turns import acting_for
from tests.factories.images import PNG
from tests.support.concurrency import PATIENCE_SECONDS, eventually_async
from tests.support.image_host import ImageHost, answer, resolving

MEBIBYTE = 1024 * 1024
LONG = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (12 * MEBIBYTE)


@pytest.fixture
def host(tmp_path: Any) -> Iterator[ImageHost]:
    with ImageHost(tmp_path) as running:
        running.pages["/quick"] = answer(PNG)
        yield running


@pytest.fixture
def open_doors() -> Iterator[threading.Event]:
    """What is slow waits for this."""
    doors = threading.Event()
    yield doors
    doors.set()


def after(doors: threading.Event, sent: bytes = b"", then: bytes = b"") -> Callable[[Any], None]:
    def page(connection: Any) -> None:
        connection.sendall(sent)
        assert doors.wait(PATIENCE_SECONDS)
        connection.sendall(then)
        connection.unwrap()

    return page


def begin(fetcher: PublicFetcher, url: str, account: str) -> "asyncio.Task[bytes]":
    with acting_for(account):
        return asyncio.create_task(fetcher.fetch(url, max_bytes=12 * MEBIBYTE, accept="image/png"))


async def test_four_pages_at_a_time(host: ImageHost, open_doors: threading.Event) -> None:
    host.pages["/slow"] = after(open_doors, then=answer(PNG))
    fetcher = host.fetcher(seconds=PATIENCE_SECONDS)
    slow = [begin(fetcher, host.url("/slow"), "alice") for _ in range(6)]
    await eventually_async(lambda: len(host.requests) >= 4)
    assert await begin(fetcher, host.url("/quick"), "bob") == PNG
    assert len(host.requests) == 4 + 1
    open_doors.set()
    assert await asyncio.gather(*slow) == [PNG] * 6


async def test_who_waits_too_long_for_a_place_gets_an_error(
    host: ImageHost, open_doors: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.pages["/slow"] = after(open_doors, then=answer(PNG))
    fetcher = host.fetcher(seconds=PATIENCE_SECONDS)
    slow = [begin(fetcher, host.url("/slow"), "alice") for _ in range(4)]
    await eventually_async(lambda: len(host.requests) == 4)
    monkeypatch.setattr(fetch_shares, "PLACE_SECONDS", 0.05)
    with pytest.raises(BusyError):
        await begin(fetcher, host.url("/quick"), "alice")
    open_doors.set()
    assert await asyncio.gather(*slow) == [PNG] * 4
    assert await begin(fetcher, host.url("/quick"), "alice") == PNG


async def test_sixteen_mebibytes_at_a_time(host: ImageHost, open_doors: threading.Event) -> None:
    host.pages["/slow"] = after(open_doors, LONG, b"\0" * 12 * MEBIBYTE)
    host.pages["/long"] = LONG + b"\0" * 12 * MEBIBYTE
    slow = begin(host.fetcher(seconds=PATIENCE_SECONDS), host.url("/slow"), "alice")
    await eventually_async(lambda: len(host.requests) == 1)
    share = share_of("alice")
    await eventually_async(lambda: share.arriving.lent_bytes)
    with pytest.raises(BusyError):
        await begin(host.fetcher(seconds=3.0), host.url("/long"), "alice")
    assert len(await begin(host.fetcher(seconds=PATIENCE_SECONDS), host.url("/long"), "bob")) == 12 * MEBIBYTE
    open_doors.set()
    assert len(await slow) == 12 * MEBIBYTE


def share_of(account: str) -> fetch_shares.Share:
    with acting_for(account):
        return fetch_shares.current_share()


async def test_two_names_at_a_time_which_count_until_their_threads_have_ended(
    host: ImageHost, open_doors: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up = []

    def look_up(name: str, port: int, *rest: Any) -> list[Any]:
        looked_up.append(name)
        if name == "other.example":
            assert open_doors.wait(PATIENCE_SECONDS)
        return resolving("127.0.0.1")(name, port)

    monkeypatch.setattr(fetch_shares, "LOOK_UP_SECONDS", 0.2)
    fetcher = host.fetcher(look_up=look_up)
    slow = [begin(fetcher, host.url("/quick", "other.example"), "alice") for _ in range(4)]
    refused = await asyncio.gather(*slow, return_exceptions=True)
    assert [str(error) for error in refused] == ["its host took too long"] * 4
    await eventually_async(lambda: len(looked_up) >= 2)
    assert looked_up == ["other.example"] * 2
    with pytest.raises(FetchError):
        await begin(fetcher, host.url("/quick"), "alice")
    assert looked_up == ["other.example"] * 2
    monkeypatch.setattr(fetch_shares, "LOOK_UP_SECONDS", PATIENCE_SECONDS)
    assert await begin(fetcher, host.url("/quick"), "bob") == PNG
    open_doors.set()
    assert await begin(fetcher, host.url("/quick"), "alice") == PNG
