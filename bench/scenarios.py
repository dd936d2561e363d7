"""Special scenarios of the gateway, each followed by a comparison of the books."""

import asyncio
import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import aiohttp
import orjson

from bench.books import Books, Ledger, compare, served_work
from bench.config import DRIPPING, FULL, PATIENT, PLAIN, credit, write
from bench.figures import percentile
from bench.gateway_lanes import GatewayLane
from bench.gateways import GatewayServer
from bench.identity import Customer
from bench.lanes import CHAT_PATH, body
from bench.servers import UpstreamServer

PARALLEL = 50
AFFORDABLE = 10
LEAVING = 24
LEAVE_AFTER_EVENTS = 4
OPEN_STREAMS = 300
TIERS = ("default", "flex", "priority")
LONGER = 4
EACH_SHAPE = 5
PROBES = 60


@dataclass(frozen=True, slots=True)
class Admission:
    """The number of parallel requests admitted by a wallet that covers exactly AFFORDABLE of them."""

    admitted: int
    refused: int
    other: int
    served_upstream: int
    books: Books


@dataclass(frozen=True, slots=True)
class Departure:
    """The charges of clients that left in the middle of a stream."""

    left: int
    charged_tokens: int
    upstream_tokens: int
    received_events: int
    books: Books


@dataclass(frozen=True, slots=True)
class Pricing:
    """Calls of every tier, shorter and longer than the threshold of a band, as JSON and as streams."""

    calls: int
    books: Books


@dataclass(frozen=True, slots=True)
class Crowd:
    """Times to the first byte of streams, in seconds, without and with many open streams."""

    open_streams: int
    database_pool: int
    undisturbed_p50: float
    crowded_p50: float
    crowded_p99: float
    finished: int
    server_mebibytes: float
    books: Books


class Scenarios:
    """Plays the special scenarios on one running gateway."""

    def __init__(
        self, gateway: GatewayServer, upstream: UpstreamServer, lane: GatewayLane, ledger: Ledger, directory: Path
    ) -> None:
        self._gateway = gateway
        self._upstream = upstream
        self._lane = lane
        self._ledger = ledger
        self._directory = directory
        self._url = f"{gateway.url}{CHAT_PATH}"

    def admit_exactly(self, number: int) -> Admission:
        """Send PARALLEL requests at once on a wallet whose credit covers AFFORDABLE holds."""
        customer = Customer(f"ten-{number}")
        self._grant(customer, AFFORDABLE * asyncio.run(self._probe_hold()))
        since = self._begin()
        headers = self._lane.sign(customer, PARALLEL)
        statuses = asyncio.run(self._ask_all(body(PATIENT), headers))
        books = compare(self._ledger, since, self._upstream.ledger())
        admitted, refused = statuses.count(200), statuses.count(402)
        return Admission(
            admitted=admitted,
            refused=refused,
            other=len(statuses) - admitted - refused,
            served_upstream=len(self._upstream.ledger()),
            books=books,
        )

    def leave_in_the_middle(self) -> Departure:
        """Open slow streams, read a few events of each, and disconnect."""
        since = self._begin()
        headers = self._lane.sign(self._lane.customers[0], LEAVING)
        events = asyncio.run(self._leave_all(headers))
        books = compare(self._ledger, since, self._upstream.ledger())
        calls = [call for call in self._ledger.calls(since) if call.state == "settled"]
        return Departure(
            left=len(events),
            charged_tokens=sum(call.output_tokens or 0 for call in calls),
            upstream_tokens=sum(work.completion_tokens for work in served_work(self._upstream.ledger()).values()),
            received_events=sum(events),
            books=books,
        )

    def price_in_full(self) -> Pricing:
        """Send calls that are priced by tier, band and caches, all at once."""
        since = self._begin()
        shapes = list(itertools.product(TIERS, (1, LONGER), (False, True))) * EACH_SHAPE
        headers = self._lane.sign(self._lane.customers[0], len(shapes))
        asyncio.run(self._ask_each([_priced(*shape) for shape in shapes], headers))
        return Pricing(calls=len(shapes), books=compare(self._ledger, since, self._upstream.ledger()))

    def crowd(self, database_pool: int) -> Crowd:
        """Hold OPEN_STREAMS slow streams open and time the first byte of others."""
        since = self._begin()
        undisturbed, crowded, mebibytes, finished = asyncio.run(self._crowd())
        books = compare(self._ledger, since, self._upstream.ledger())
        return Crowd(
            open_streams=OPEN_STREAMS,
            database_pool=database_pool,
            undisturbed_p50=percentile(sorted(undisturbed), 50),
            crowded_p50=percentile(sorted(crowded), 50),
            crowded_p99=percentile(sorted(crowded), 99),
            finished=finished,
            server_mebibytes=mebibytes,
            books=books,
        )

    def _begin(self) -> datetime:
        """Empty the upstream's ledger and return the start time."""
        self._upstream.reset()
        return self._ledger.now()

    def _grant(self, customer: Customer, amount_microusd: int) -> None:
        path = write(self._directory / f"{customer.name}.yaml", {"credits": [credit(customer, amount_microusd)]})
        done = self._gateway.manage("apply", str(path))
        if done.returncode:
            raise RuntimeError(f"apply failed: {done.stdout}{done.stderr}")

    async def _probe_hold(self) -> int:
        """Determine the hold of one such request."""
        [headers] = self._lane.sign(self._lane.customers[0], 1)
        async with _session() as session, session.post(self._url, data=body(PATIENT), headers=headers) as answer:
            answer.raise_for_status()
            return int(answer.headers["x-service-hold-microusd"])

    async def _ask_all(self, content: bytes, headers: Sequence[Mapping[str, str]]) -> list[int]:
        return await self._ask_each([content] * len(headers), headers)

    async def _ask_each(self, contents: Sequence[bytes], headers: Sequence[Mapping[str, str]]) -> list[int]:
        async with _session() as session:

            async def ask(content: bytes, each: Mapping[str, str]) -> int:
                async with session.post(self._url, data=content, headers=each) as answer:
                    await answer.read()
                    return answer.status

            return await asyncio.gather(*map(ask, contents, headers))

    async def _leave_all(self, headers: Sequence[Mapping[str, str]]) -> list[int]:
        async with _session() as session:

            async def leave(each: Mapping[str, str]) -> int:
                content = body(DRIPPING, stream=True)
                async with session.post(self._url, data=content, headers=each) as answer:
                    events = 0
                    async for line in answer.content:
                        events += _delivers_word(line)
                        if events == LEAVE_AFTER_EVENTS:
                            break
                    return events

            return await asyncio.gather(*(leave(each) for each in headers))

    async def _crowd(self) -> tuple[list[float], list[float], float, int]:
        customer = self._lane.customers[0]
        async with _session() as session:
            undisturbed = await self._time_first_bytes(session, self._lane.sign(customer, PROBES))
            started = [asyncio.Event() for _ in range(OPEN_STREAMS)]
            streams = [
                asyncio.create_task(self._hold_open(session, headers, event))
                for headers, event in zip(self._lane.sign(customer, OPEN_STREAMS), started, strict=True)
            ]
            await asyncio.gather(*(event.wait() for event in started))
            crowded = await self._time_first_bytes(session, self._lane.sign(customer, PROBES))
            mebibytes = self._gateway.server_mebibytes()
            finished = sum(await asyncio.gather(*streams))
        return undisturbed, crowded, mebibytes, finished

    async def _hold_open(
        self, session: aiohttp.ClientSession, headers: Mapping[str, str], started: asyncio.Event
    ) -> bool:
        """Read a slow stream; return whether it ended normally."""
        last = b""
        async with session.post(self._url, data=body(DRIPPING, stream=True), headers=headers) as answer:
            async for line in answer.content:
                started.set()
                last = line if line.startswith(b"data:") else last
        return last.startswith(b"data: [DONE]")

    async def _time_first_bytes(
        self, session: aiohttp.ClientSession, headers: Sequence[Mapping[str, str]]
    ) -> list[float]:
        """Request fast streams one after another."""
        waits = []
        for each in headers:
            started_at = time.perf_counter()
            async with session.post(self._url, data=body(PLAIN, stream=True), headers=each) as answer:
                answer.raise_for_status()
                await answer.content.readany()
                waits.append(time.perf_counter() - started_at)
                await answer.read()
        return waits


def _priced(tier: str, repeats: int, streams: bool) -> bytes:
    """Build a call of the alias that is priced in full."""
    sent = orjson.loads(body(FULL, stream=streams))
    sent["messages"][-1]["content"] *= repeats
    control = {"type": "ephemeral", "ttl": "1h"}
    return orjson.dumps({**sent, "service_tier": tier, "cache_control": control})


def _session() -> aiohttp.ClientSession:
    connector = aiohttp.TCPConnector(limit=0)
    headers = {"Content-Type": "application/json"}
    return aiohttp.ClientSession(connector=connector, headers=headers, timeout=aiohttp.ClientTimeout(total=120))


def _delivers_word(line: bytes) -> bool:
    """Return whether a line of a stream carries a word of the answer."""
    if not line.startswith(b"data: {"):
        return False
    choices = orjson.loads(line[6:])["choices"]
    return bool(choices and choices[0]["delta"].get("content"))
