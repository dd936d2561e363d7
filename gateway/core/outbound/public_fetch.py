"""Fetches URLs given by untrusted parties: only from public addresses, with limits on size and time, without redirects."""

import asyncio
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import aiohttp

from gateway.core.outbound.aiohttp_internals import send_once
from gateway.core.outbound.bodies import read_bounded
from gateway.core.outbound.client import HEAD_LIMITS, USER_AGENT
from gateway.core.outbound.failures import TooLargeError
from gateway.core.outbound.fetch_shares import LookUp, Share, current_share
from gateway.core.outbound.guard import FetchError, NotPublicError, SlowHostError, guarded_pool
from gateway.core.outbound.public_addresses import is_public
from gateway.core.runtime.budget import ByteBudget
from gateway.core.runtime.per_loop import PerLoop

FETCH_SECONDS = 10.0
"""Timeout of one fetch, from the DNS look-up to the last byte."""

ARRIVING_MAX_BYTES = 64 * 1024 * 1024
"""The most bytes that all fetches of a process may be receiving at one time."""


class BusyError(FetchError):
    """Too much is already being fetched, for the same account or in total."""

    def __init__(self) -> None:
        super().__init__("too much is being fetched")


class PublicFetcher:
    """Fetches by GET over https. Every address of a name must be allowed, and the one connected to is checked again, as a
    protection against DNS rebinding.

    `allowed`, `look_up` and `tls` override the address check, DNS resolution and trust in certificates, mainly in tests.
    """

    def __init__(
        self,
        *,
        allowed: Callable[[str], bool] = is_public,
        look_up: LookUp = socket.getaddrinfo,
        tls: ssl.SSLContext | None = None,
        seconds: float = FETCH_SECONDS,
    ) -> None:
        self._allowed, self._look_up, self._tls, self._seconds = allowed, look_up, tls, seconds
        self._arriving = PerLoop(lambda: ByteBudget(lambda: ARRIVING_MAX_BYTES))

    async def fetch(self, url: str, *, max_bytes: int, accept: str) -> bytes:
        """Return the body at a URL. Raises FetchError; a BusyError is not the fault of the party that gave the URL.

        A fetch for an account waits for the account's share (`acting_for`). That time does not count for the timeout.
        """
        share = current_share()
        try:
            async with share.place():
                return await self._fetch(url, max_bytes, accept, share)
        except TimeoutError:
            raise BusyError from None

    async def _fetch(self, url: str, max_bytes: int, accept: str, share: Share) -> bytes:
        try:
            async with (
                asyncio.timeout(self._seconds) as clock,
                self._session(accept, share) as session,
                session.get(url, allow_redirects=False) as response,
            ):
                return await self._read(response, max_bytes, share, clock)
        except TooLargeError:
            raise FetchError(f"it is larger than {max_bytes} bytes") from None
        except TimeoutError:
            raise SlowHostError from None
        except (aiohttp.ClientConnectorDNSError, aiohttp.InvalidURL):
            raise NotPublicError from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise FetchError("its host did not respond as expected") from error

    async def _read(
        self, response: aiohttp.ClientResponse, max_bytes: int, share: Share, clock: asyncio.Timeout
    ) -> bytes:
        _check_head(response)
        size_bytes = response.content_length
        if size_bytes is not None and size_bytes > max_bytes:
            raise TooLargeError
        room_bytes = max_bytes if size_bytes is None else size_bytes
        with ExitStack() as lent:
            with _stopped(clock):
                for budget in (share.arriving, self._arriving.get()):
                    await _borrow(budget, room_bytes, self._seconds)
                    lent.callback(budget.release, room_bytes)
            return await read_bounded(response.content, max_bytes)

    def _session(self, accept: str, share: Share) -> aiohttp.ClientSession:
        """Open a session for one fetch. No state is shared with other fetches."""
        session = aiohttp.ClientSession(
            connector=guarded_pool(
                self._allowed, self._look_up, self._tls, share, force_close=True, use_dns_cache=False
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            auto_decompress=False,
            headers={"User-Agent": USER_AGENT, "Accept": accept, "Accept-Encoding": "identity"},
            **HEAD_LIMITS,
        )
        return send_once(session)


@contextmanager
def _stopped(clock: asyncio.Timeout) -> Iterator[None]:
    """Pause the timeout of a fetch while it waits for others."""
    loop, ends_at = asyncio.get_running_loop(), clock.when()
    assert ends_at is not None
    left_seconds = ends_at - loop.time()
    clock.reschedule(None)
    yield
    clock.reschedule(loop.time() + left_seconds)


async def _borrow(budget: ByteBudget, size_bytes: int, wait_seconds: float) -> None:
    try:
        await budget.take(size_bytes, wait_seconds)
    except TimeoutError:
        raise BusyError from None


def _check_head(response: aiohttp.ClientResponse) -> None:
    if 300 <= response.status < 400:
        raise FetchError("its host redirects, which is not followed")
    if response.status != 200:
        raise FetchError(f"its host answered with status {response.status}")
    if response.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
        raise FetchError("its host compressed it, although this was not requested")
