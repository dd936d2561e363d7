"""Controls a chaos run from start to end."""

import asyncio
import contextlib
import random
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.identity import Customer, Product
from tests.chaos import evidence, faults
from tests.chaos.caller import Caller
from tests.chaos.clients import Client
from tests.chaos.configuration import GRANT_MICROUSD, configuration, product_server
from tests.chaos.database import SLOW_DISK
from tests.chaos.evidence import Evidence
from tests.chaos.installation import Installation
from tests.chaos.journal import Journal
from tests.chaos.models import MODELS, QUICK
from tests.chaos.people import Crowd, Person, found
from tests.chaos.probes import Prober
from tests.chaos.report import Conditions, Report
from tests.chaos.verdicts import judge

CALM_SECONDS = 6.0
"""The duration of load after the last fault, so that its recovery is measured."""
FEW, RICH, POOR, ORGANIZATIONS = 6, 20, 10, 4
GRANT = "from billing.operations.credits import grant; grant('organization', {org!r}, amount_microusd={amount}, source_kind='chaos', source_key={org!r})"
NEVER, HALF, ALWAYS = "never", "half", "always"


@dataclass(frozen=True, slots=True)
class Plan:
    """The parameters of a run; its faults come in this order. `patience` is the time given to the jobs, `pause` what a client
    leaves between its calls. Bounds on time are wider by what requests take in `undisturbed_seconds`, before the first
    fault. `furnish` may put a database into the new data directory."""

    seconds: float
    kinds: Sequence[str]
    seed: int
    processes: int = 2
    workers: int = 1
    clients: int = 32
    pause_seconds: float = 0.0
    undisturbed_seconds: float = 0.0
    slow_disk: str = HALF
    patience_seconds: float = 150.0
    command: str = ""
    say: Callable[[str], None] = field(default=lambda text: None)
    furnish: Callable[[Path], None] = field(default=lambda home: None)


class Run:
    """Runs one plan in one installation."""

    probes = True

    def __init__(self, plan: Plan, installation: Installation) -> None:
        self._plan = plan
        self._installation = installation
        self._dice = random.Random(plan.seed)
        self._journal = Journal()
        self._product: Product = product_server()
        self._commits = [0.0, 0.0]

    def play(self) -> Report:
        """Start the installation, disturb it under load, wait for the jobs, and judge."""
        people = self._prepare()
        asyncio.run(self._load(*people))
        self._plan.say("waiting for the jobs")
        entries = self._installation.upstream.ledger()
        works = evidence.read_works(entries)
        self._await_jobs(works)
        audit = self._installation.manage("audit_ledger")
        complaints = [line for line in (audit.stdout + audit.stderr).splitlines() if line] if audit.returncode else []
        calls = evidence.read_calls(self._installation.database)
        overspent = evidence.read_overspent(self._installation.database)
        seen = Evidence(calls, works, self._journal, overspent, complaints)
        return Report(self._conditions(), seen, judge(seen))

    def _prepare(self) -> tuple[Crowd, Sequence[Customer], Sequence[Customer]]:
        """Start everything, with wallets for everybody; return payers, future owners, and the probers' accounts."""
        hot, few, rich, poor, owners, probing = (
            [Customer(f"{name}-{number}") for number in range(count)]
            for name, count in (
                ("hot", 1),
                ("few", FEW),
                ("rich", RICH),
                ("poor", POOR),
                ("owner", ORGANIZATIONS),
                ("probe", self._plan.processes),
            )
        )
        funded = [*hot, *few, *rich, *probing]
        self._installation.open(self._configuration(funded, poor))
        groups = [[Person(customer) for customer in group] for group in (hot, few, [*rich, *poor])]
        return Crowd(*groups), owners, probing

    def _configuration(self, funded: Sequence[Customer], poor: Sequence[Customer]) -> dict[str, Any]:
        return configuration(self._product, self._installation.upstream.origin, funded, poor)

    def _others(self, caller: Caller, crowd: Crowd, stop: asyncio.Event) -> Iterable[Coroutine[Any, Any, None]]:
        """Return what else runs until the load ends."""
        return ()

    async def _load(self, crowd: Crowd, owners: Sequence[Customer], probing: Sequence[Customer]) -> None:
        async with Caller(self._installation.gateways, self._journal) as caller:
            await asyncio.to_thread(self._await_gateways)
            crowd.many = [*crowd.many, *await self._found(caller, owners)]
            await asyncio.to_thread(self._measure_commits)
            stop = asyncio.Event()
            async with asyncio.TaskGroup() as working:
                if self.probes:
                    for customer, process in zip(probing, self._installation.gateways, strict=True):
                        working.create_task(Prober(caller, self._product, customer, process).run(stop))
                for number in range(self._plan.clients):
                    models = (QUICK,) if number % 2 else MODELS
                    dice = random.Random(self._dice.random())
                    client = Client(caller, self._product, crowd, models, dice, pause_seconds=self._plan.pause_seconds)
                    working.create_task(client.run(stop))
                for other in self._others(caller, crowd, stop):
                    working.create_task(other)
                try:
                    await self._disturb()
                finally:
                    stop.set()

    async def _found(self, caller: Caller, owners: Sequence[Customer]) -> list[Person]:
        process = next(iter(self._installation.gateways))
        founded = [await found(caller, self._product, owner, process) for owner in owners]
        grants = [GRANT.format(org=person.org_id, amount=GRANT_MICROUSD) for person in founded]
        granted = self._installation.manage("shell", "-c", "\n".join(grants))
        if granted.returncode:
            raise RuntimeError(f"granting failed: {granted.stderr}")
        return founded

    async def _disturb(self) -> None:
        """Inflict the faults at their times; the disk becomes slow at its time."""
        plan, started = self._plan, time.monotonic()
        await asyncio.sleep(plan.undisturbed_seconds)
        self._journal.lag_seconds = self._journal.longest_seconds() if plan.undisturbed_seconds else 0.0
        slow_at = {NEVER: float("inf"), HALF: plan.seconds / 2, ALWAYS: 0.0}[plan.slow_disk]
        moments = faults.moments(len(plan.kinds), plan.seconds - CALM_SECONDS - plan.undisturbed_seconds, self._dice)
        for moment, kind in zip(moments, plan.kinds, strict=True):
            at = plan.undisturbed_seconds + moment
            if at >= slow_at:
                slow_at = float("inf")
                plan.say("the disk becomes slow")
                await asyncio.to_thread(self._installation.database.set, SLOW_DISK)
            await asyncio.sleep(max(0.0, started + at - time.monotonic()))
            self._installation.check()
            disturbance = await asyncio.to_thread(faults.inflict, kind, self._installation, self._dice)
            self._journal.disturbances.append(disturbance)
            plan.say(f"{kind} ({disturbance.ended_at - disturbance.started_at:.1f} s)")
        await asyncio.sleep(max(CALM_SECONDS, started + plan.seconds - time.monotonic()))

    def _measure_commits(self) -> None:
        """Measure a commit with and without the slow disk, without other load."""
        database = self._installation.database
        self._commits[0] = database.commit_milliseconds()
        database.set(SLOW_DISK)
        self._commits[1] = database.commit_milliseconds()
        database.set(dict.fromkeys(SLOW_DISK, ""))

    def _await_gateways(self) -> None:
        for origin in self._installation.gateways.values():
            faults.await_response(origin)

    def _await_jobs(self, works: dict[str, list[evidence.Work]]) -> None:
        """Wait for the jobs to close open calls, and calls that were never sent."""
        until = time.monotonic() + self._plan.patience_seconds
        while time.monotonic() < until:
            calls = evidence.read_calls(self._installation.database).values()
            waiting = [c for c in calls if c.state == "dispatched" or not (c.is_closed or c.id in works)]
            if not waiting:
                return
            time.sleep(1.0)

    def _conditions(self) -> Conditions:
        plan = self._plan
        return Conditions(plan.command, plan.seed, plan.seconds, plan.processes * plan.workers, *self._commits)


def play(plan: Plan, *, keep: bool = False) -> Report:
    """Run a plan in its own installation, whose folder is deleted unless it is to be kept."""
    installation = Installation(plan.processes, plan.workers, plan.furnish)
    try:
        with installation:
            return Run(plan, installation).play()
    finally:
        if keep:
            plan.say(f"logs and data are in {installation.home}")
        else:
            with contextlib.suppress(OSError):
                installation.remove()
