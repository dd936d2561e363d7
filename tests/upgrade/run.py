"""Plays a run: loads the nodes through the proxy, replaces them one by one, and judges."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from bench.identity import Customer, Product
from tests.upgrade import load
from tests.upgrade.client import Client
from tests.upgrade.crossing import Crossing
from tests.upgrade.journal import UNANSWERED, Journal
from tests.upgrade.people import Person, configuration, customers, product
from tests.upgrade.report import Report
from tests.upgrade.site import Jobs, Node, Site, Version
from tests.upgrade.tables import Shape, called, missed
from tests.upgrade.verdicts import MISSED, judge, read_books

CLOSING_SECONDS = 150.0
BETWEEN_SECONDS = 3.0
"""Of load between two steps, once a node is ready: an operator is not faster."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The parameters of a run. `load_seconds` is how long each pair of versions serves side by side, and `is_over` ends restarts early."""

    kind: str = "haproxy"
    workers: int = 1
    seed: int = 1
    load_seconds: float = 20.0
    keep: bool = False
    say: Callable[[str], None] = field(default=lambda text: None)
    is_over: Callable[[], bool] = field(default=lambda: False)


class Run:
    """One run at one site."""

    def __init__(self, plan: Plan, site: Site, of: Product, paying: Sequence[Customer]) -> None:
        self.plan, self.site = plan, site
        self.journal = Journal()
        self._product, self._paying = of, paying
        self._replaced, self._crossed = 0, 0
        self._seconds = 0.0

    async def restarts(self, version: Version, count: int) -> None:
        """Start both nodes, and restart them in turn."""
        await self._begin(version)
        async with self._load():
            await asyncio.sleep(self.plan.load_seconds)
            for number in range(count):
                if self.plan.is_over():
                    return
                await self._replace(self.site.nodes[number % 2], version)

    async def upgrade(self, old: Version, new: Version) -> None:
        """Upgrade from the old version as docs/upgrading.md says, and go back."""
        await self._begin(old)
        jobs = Jobs(self.site.home, self.site.environment, old)
        async with self._load():
            with jobs:
                await asyncio.sleep(self.plan.load_seconds)
                await self._prepare(new, old)
                await self._cross("old nodes on the new database")
                await self._replace(self.site.nodes[0], new)
                await self._cross("old and new nodes")
                await asyncio.sleep(self.plan.load_seconds)
                await self._replace(self.site.nodes[1], new)
            with Jobs(self.site.home, self.site.environment, new):
                await self._cross("new nodes")
                await asyncio.sleep(self.plan.load_seconds)
                await self._replace(self.site.nodes[0], old)
                await self._cross("an old node after new ones")
                await asyncio.sleep(self.plan.load_seconds)
                await self._replace(self.site.nodes[1], old)
            with jobs:
                await self._prepare(old, old)
                await self._cross("old nodes with their own functions again")
                await asyncio.sleep(self.plan.load_seconds)
        await self._prepare(new, old)

    def finish(self, version: Version, command: str) -> Report:
        """Wait until the calls are closed, audit, and judge. The nodes still run: what a cut call left is theirs."""
        with Jobs(self.site.home, self.site.environment, version):
            self.site.await_calls(CLOSING_SECONDS)
        audit = self.site.manage(version, "audit_ledger")
        findings = (audit.stdout + audit.stderr).splitlines() if audit.returncode else []
        cases = judge(self.journal, read_books(self.site.database, findings))
        return Report(command, self.plan, self._seconds, self._replaced, self._crossed, self.journal, cases)

    async def _begin(self, version: Version) -> None:
        await asyncio.to_thread(self.site.prepare, version)
        for node in self.site.nodes:
            await asyncio.to_thread(node.start, version)
        await asyncio.to_thread(self.site.await_proxy)

    @asynccontextmanager
    async def _load(self) -> AsyncIterator[None]:
        """Load the nodes during the block. Every client ends what it has begun."""
        stop, began, dice = asyncio.Event(), time.monotonic(), random.Random(self.plan.seed)
        people = [Person(customer, self._product) for customer in self._paying[:-1]]
        async with Client(self.site.front.port, self.site.front.context, self.journal, dice) as client:
            for person in people:
                await client.token(person)
            async with asyncio.TaskGroup() as clients:
                for number, turn in enumerate(load.TURNS):
                    clients.create_task(load.run(client, people[number % len(people)], turn, stop))
                try:
                    yield
                finally:
                    stop.set()
        self._seconds = time.monotonic() - began

    async def _prepare(self, version: Version, serving: Version) -> None:
        """Bring the database to a version while nodes serve, which must miss nothing afterwards."""
        self.plan.say(f"prepare of {version.name}")
        with self.site.database.connect() as connection:
            before = Shape.read(connection)
            await asyncio.to_thread(self.site.prepare, version)
            lost = missed(before, Shape.read(connection), called(serving.source.directory))
            self.journal.cases += [(MISSED, what) for what in sorted(lost)]

    async def _replace(self, node: Node, version: Version) -> None:
        began = time.monotonic()
        await asyncio.to_thread(node.stop)
        stopped = time.monotonic()
        await asyncio.to_thread(node.start, version)
        self._replaced += 1
        took = f"stopped in {stopped - began:.1f} s, ready in {time.monotonic() - stopped:.1f} s"
        lost = sum(1 for _ in self.journal.of(UNANSWERED))
        seen = f"{len(self.journal.exchanges):,} requests, {lost} without an answer"
        self.plan.say(f"{self._replaced}: node {node.name} is {version.name} ({took}; {seen})")
        await asyncio.sleep(BETWEEN_SECONDS)

    async def _cross(self, name: str) -> None:
        """Compare both nodes, in both directions."""
        self.plan.say(f"comparing: {name}")
        one, two = self.site.nodes
        person = Person(self._paying[-1], self._product)
        for first, second in ((one, two), (two, one)):
            self._crossed += await asyncio.to_thread(Crossing(first, second, person, self.journal).run)


def play(plan: Plan, command: str, new: Version, old: Version | None, restarts: int) -> Report:
    """Run a plan at its own site, whose folder is deleted unless it is to be kept."""
    of, paying = product(), customers()
    site = Site(plan.kind, plan.workers, configuration(of, paying))
    try:
        with site:
            run = Run(plan, site, of, paying)
            asyncio.run(run.upgrade(old, new) if old else run.restarts(new, restarts))
            plan.say("waiting for the calls to be closed")
            return run.finish(new, command)
    finally:
        if plan.keep:
            plan.say(f"logs and data are in {site.home}")
        else:
            site.remove()
