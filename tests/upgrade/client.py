"""Sends requests through the proxy, and records how each ended."""

import asyncio
import random
import socket
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self

import aiohttp
import orjson
from aiohttp.abc import AbstractResolver, ResolveResult
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from bench.processes import LOOPBACK
from tests.support.fronts import HOST
from tests.upgrade.journal import CUT, REFUSED, TOKEN, TURNED_AWAY, UNANSWERED, WHOLE, Exchange, Journal
from tests.upgrade.people import Person

PATIENCE_SECONDS = 120.0
EXCHANGE = "/v1/auth/token/exchange"
RECEIPT = b": service "
DATA = b"data: "


class Here(AbstractResolver):
    """Finds the proxy's public name on this machine."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return this machine's address."""
        return [
            ResolveResult(hostname=host, host=LOOPBACK, port=port, family=socket.AF_INET, proto=0, flags=0),
        ]

    async def close(self) -> None:
        """Do nothing."""


class Client:
    """A client of the public name, with connections that are kept, as an app has."""

    def __init__(self, port: int, context: ssl.SSLContext, journal: Journal, dice: random.Random) -> None:
        self.journal, self.dice = journal, dice
        self.began = time.monotonic()
        self._origin = f"https://{HOST}:{port}"
        self._port, self._context = port, context

    async def __aenter__(self) -> Self:
        connector = aiohttp.TCPConnector(limit=0, resolver=Here(), ssl=self._context)
        self.session = aiohttp.ClientSession(
            connector=connector, timeout=aiohttp.ClientTimeout(total=PATIENCE_SECONDS), headers={"Host": HOST}
        )
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.session.close()

    def url(self, path: str) -> str:
        """Return the address of a path at the proxy."""
        return self._origin + path

    def socket(self, path: str, headers: dict[str, str]) -> connect:
        """Open a WebSocket through the proxy."""
        return connect(
            f"wss://{HOST}{path}",
            host=LOOPBACK,
            port=self._port,
            ssl=self._context,
            additional_headers=headers,
            compression=None,
            max_size=None,
            open_timeout=PATIENCE_SECONDS,
            ping_interval=None,
            proxy=None,
        )

    @asynccontextmanager
    async def noting(self, kind: str, key: str = "") -> AsyncIterator[Exchange]:
        """Record an exchange, whose ending the block sets; an error of the connection is one without an answer."""
        exchange = Exchange(kind, time.monotonic() - self.began, key)
        try:
            yield exchange
        except (aiohttp.ClientError, WebSocketException, OSError, TimeoutError) as error:
            exchange.ending = UNANSWERED
            exchange.detail = f"after {time.monotonic() - self.began - exchange.at:.1f} s: {error!r}"
        finally:
            self.journal.exchanges.append(exchange)

    async def token(self, person: Person) -> bool:
        """Get a token if the person needs one; return whether there is one."""
        if not person.needs_token():
            return True
        async with self.noting(TOKEN) as exchange:
            body = person.assertion()
            async with self.session.post(
                self.url(EXCHANGE), data=body, headers={"Content-Type": "application/json"}
            ) as answer:
                content = await answer.read()
            judge(exchange, answer, content)
            if exchange.ending == WHOLE:
                person.take(content)
        return exchange.ending == WHOLE

    async def ask(
        self, exchange: Exchange, person: Person, path: str, body: Any = None, *, method: str = "POST"
    ) -> bytes:
        """Send a request, and set the exchange's ending from the whole answer, which is returned."""
        headers = person.headers(method, path, exchange.key) | {"Content-Type": "application/json"}
        data = None if body is None else orjson.dumps(body)
        async with self.session.request(method, self.url(path), data=data, headers=headers) as answer:
            content = await answer.read()
        judge(exchange, answer, content)
        return content


def judge(exchange: Exchange, answer: aiohttp.ClientResponse, content: bytes) -> None:
    """Set how an exchange ended, from a whole answer."""
    exchange.status = answer.status
    exchange.usage_id = answer.headers.get("x-service-usage-id", "")
    charge = answer.headers.get("x-service-charge-microusd")
    exchange.charge = None if charge is None else int(charge)
    if answer.status == 200 and answer.content_type == "text/event-stream":
        judge_stream(exchange, [line for line in content.splitlines() if line])
    elif answer.status < 300:
        exchange.ending = WHOLE
    else:
        judge_error(exchange, content)


def judge_stream(exchange: Exchange, lines: list[bytes]) -> None:
    """A stream has its receipt last, after the end or the error event."""
    if len(lines) < 2 or not lines[-1].startswith(RECEIPT):
        exchange.detail = f"the stream's last lines are {lines[-2:]!r}"
        return
    exchange.charge = orjson.loads(lines[-1].removeprefix(RECEIPT))["charge_microusd"]
    if lines[-2] == DATA + b"[DONE]":
        exchange.ending = WHOLE
        return
    events = [orjson.loads(line.removeprefix(DATA)) for line in lines if line.startswith(DATA) and line[6:7] == b"{"]
    exchange.code = str(events[-1].get("error", {}).get("code")) if events else ""
    exchange.ending = CUT if exchange.code == "not_ready" else UNANSWERED
    exchange.detail = "" if exchange.ending == CUT else f"the stream's last lines are {lines[-2:]!r}"


def judge_error(exchange: Exchange, content: bytes) -> None:
    """An error in the gateway's form is an answer; any other is the proxy's."""
    try:
        error = orjson.loads(content)["error"]
        exchange.code = str(error["code"] if isinstance(error, dict) else error)
        exchange.detail = str(error.get("message", "")) if isinstance(error, dict) else ""
    except (orjson.JSONDecodeError, KeyError, TypeError):
        exchange.detail = content[:80].decode(errors="replace")
        return
    exchange.ending = TURNED_AWAY if exchange.code == "not_ready" else REFUSED


async def pause(stop: asyncio.Event, seconds: float) -> None:
    """Wait, but not longer than until the load ends."""
    try:
        await asyncio.wait_for(stop.wait(), seconds)
    except TimeoutError:
        return
