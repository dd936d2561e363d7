"""Posts events to an endpoint over https, to public addresses only, within a bound of time and memory, without redirects."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from weakref import WeakValueDictionary

import aiohttp
from django.conf import settings
from yarl import URL

from gateway.core.events.rules.addresses import LOOPBACK, is_loopback_http
from gateway.core.outbound.aiohttp_internals import send_once
from gateway.core.outbound.bodies import read_part
from gateway.core.outbound.client import HEAD_LIMITS, KEEPALIVE_SECONDS, USER_AGENT
from gateway.core.outbound.fetch_shares import LookUp, Share
from gateway.core.outbound.guard import Allowed, NotPublicError, SlowHostError, guarded_pool
from gateway.core.outbound.public_addresses import is_public
from gateway.core.outbound.redaction import redacted
from gateway.core.runtime.per_loop import PerLoop

ANSWER_SECONDS = 10.0
"""The time for one event, from the look-up of the name to the end of the answer."""

EXCERPT_SECONDS = 2.0
"""How long a body is read once the status is known."""

EXCERPT_MAX_BYTES = 2048
"""How much of a body is read; less of it is stored."""

NO_ANSWER = "it did not answer in time"

_shares: PerLoop[WeakValueDictionary[str, Share]] = PerLoop(WeakValueDictionary)
"""The look-ups of each host. One that hangs outlives its line, and counts until it ends, so that a host whose name server is dead
takes no more threads with each line."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What an endpoint answered: its status and the start of its body, or no status and an error."""

    status: int | None
    excerpt: str = ""
    error: str = ""
    milliseconds: int = 0


@dataclass(frozen=True, slots=True)
class Poster:
    """Opens connections to endpoints. `allowed`, `look_up`, `tls` and `seconds` override the check of addresses, the resolution of
    names, the trust in certificates and the time for an answer, in tests."""

    allowed: Allowed = is_public
    look_up: LookUp = socket.getaddrinfo
    tls: ssl.SSLContext | None = None
    seconds: float = ANSWER_SECONDS

    @asynccontextmanager
    async def connected(self, url: str, *, at_once: int) -> AsyncIterator["Line"]:
        """Open a line to one endpoint. Its connections, `at_once` at most, are reused until the context ends, and its name is looked
        up once for them."""
        is_loopback = settings.EVENTS_ON_LOOPBACK and is_loopback_http(url)
        allowed = {LOOPBACK}.__contains__ if is_loopback else self.allowed
        share = _shares.get().setdefault(url.partition("://")[2].partition("/")[0].lower(), Share())
        session = aiohttp.ClientSession(
            connector=guarded_pool(
                allowed, self.look_up, self.tls, share, limit=at_once, keepalive_timeout=KEEPALIVE_SECONDS
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            auto_decompress=False,
            timeout=aiohttp.ClientTimeout(total=None),
            headers={"User-Agent": USER_AGENT, "Accept-Encoding": "identity"},
            **HEAD_LIMITS,
        )
        async with send_once(session):
            yield Line(session, url, self.seconds)


@dataclass(frozen=True, slots=True)
class Line:
    """The connections to one endpoint."""

    session: aiohttp.ClientSession
    url: str
    seconds: float

    async def post(self, body: bytes, headers: Mapping[str, str]) -> Answer:
        """Send a body once; return the answer, or what prevented one."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        try:
            async with asyncio.timeout_at(begun + self.seconds):
                status, excerpt = await self._exchange(body, headers)
        except Exception as error:  # noqa: BLE001 - whatever an endpoint does, only its own delivery fails
            return Answer(None, error=_words(error), milliseconds=round((loop.time() - begun) * 1000))
        return Answer(status, excerpt, milliseconds=round((loop.time() - begun) * 1000))

    async def _exchange(self, body: bytes, headers: Mapping[str, str]) -> tuple[int, str]:
        url = URL(self.url)
        async with self.session.post(url, data=body, headers=headers, allow_redirects=False) as response:
            excerpt = await _start_of(response, self.seconds)
            if not response.content.at_eof():
                response.close()  # the rest is never read
            return response.status, excerpt


async def _start_of(response: aiohttp.ClientResponse, seconds: float) -> str:
    """Return the start of a body as one line. The status counts, even if the body is slow or breaks off."""
    start = b""
    with suppress(TimeoutError, aiohttp.ClientError, OSError):
        async with asyncio.timeout(min(EXCERPT_SECONDS, seconds)):
            while len(start) < EXCERPT_MAX_BYTES and (part := await read_part(response.content)):
                start += part
    return redacted(start[:EXCERPT_MAX_BYTES].decode(errors="replace"))


def _words(error: Exception) -> str:
    """Return what prevented an answer, in words for the console."""
    if isinstance(error, TimeoutError | SlowHostError):
        return NO_ANSWER
    if isinstance(error, NotPublicError | aiohttp.ClientConnectorDNSError):
        return str(NotPublicError())
    if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientConnectorSSLError):
        return redacted(f"its certificate is not trusted: {error.__cause__ or error}")
    if isinstance(error, aiohttp.ClientConnectorError):
        return f"it could not be connected to: {error.os_error.strerror or type(error.os_error).__name__}"
    return redacted(f"it did not answer as HTTP prescribes: {type(error).__name__}")
