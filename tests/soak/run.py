"""Controls a soak from start to end."""

import asyncio
import contextlib
import random
import time
from collections.abc import Coroutine, Iterator, Sequence
from dataclasses import replace
from typing import Any

from bench.identity import CAPABILITIES, Customer, Product
from tests.chaos.caller import Caller
from tests.chaos.configuration import MANAGING
from tests.chaos.people import Crowd, Person
from tests.chaos.run import Plan, Run
from tests.soak import routes
from tests.soak.installation import SoakInstallation
from tests.soak.report import SoakReport
from tests.soak.samples import Sample, Sampler
from tests.soak.visitors import PORTAL_PERSON, Visitors

MORE = ("realtime:connect", "billing:checkout", "responses:read", "responses:delete", "members:manage")
SLOW = 10
"""Of how many pauses that of payers and of the portal's people consists."""


class SoakRun(Run):
    """Runs one plan: the chaos run's load without a fault, with everything else beside it, and a sample once in a while."""

    def __init__(self, plan: Plan, installation: SoakInstallation, sample_seconds: float) -> None:
        super().__init__(plan, installation)
        self._soaked, self._sample_seconds = installation, sample_seconds
        self._product = Product([*CAPABILITIES, *MANAGING, *MORE], consents=["realtime"])
        self.samples: list[Sample] = []

    def _configuration(self, funded: Sequence[Customer], poor: Sequence[Customer]) -> dict[str, Any]:
        whole = super()._configuration(funded, poor)
        whole["upstreams"] += routes.upstreams(self._installation.upstream.origin, self._soaked.vectors.base_url)
        whole["aliases"] += routes.aliases()
        return whole

    def _others(self, caller: Caller, crowd: Crowd, stop: asyncio.Event) -> Iterator[Coroutine[Any, Any, None]]:
        made = self._installation.manage("shell", "-c", PORTAL_PERSON)
        if made.returncode:
            raise RuntimeError(f"making the portal's person failed: {made.stderr}")
        dice, pause = random.Random(self._dice.random()), max(0.05, self._plan.pause_seconds)
        quick = Visitors(caller, self._product, dice, pause_seconds=pause)
        slow = Visitors(caller, self._product, dice, pause_seconds=SLOW * pause)
        one, two, three, payer, *_ = crowd.few
        organization = next(person for person in crowd.many if person.org_id)
        # With a token of its own: the one of the calls is the organization's.
        manager = Person(replace(organization.customer, token=""))
        yield quick.repeat(lambda: quick.call_routes(one), stop)
        yield quick.repeat(lambda: quick.talk(two), stop)
        yield quick.repeat(lambda: quick.talk(three), stop)
        yield slow.repeat(lambda: slow.pay(payer), stop)
        yield slow.repeat(slow.visit_portal, stop)
        yield slow.repeat(lambda: slow.manage(manager, organization.org_id), stop)

    async def _disturb(self) -> None:
        """Disturb nothing; take samples until the time is over."""
        sampler, began = Sampler(self._soaked), time.monotonic()
        while time.monotonic() - began < self._plan.seconds:
            self.samples.append(await asyncio.to_thread(sampler.take))
            self._installation.check()
            self._plan.say(f"{self.samples[-1].calls:,} calls")
            await asyncio.sleep(self._sample_seconds)


def play(plan: Plan, *, sample_seconds: float, keep: bool = False) -> SoakReport:
    """Run a plan in its own installation, whose folder is deleted unless it is to be kept."""
    installation = SoakInstallation(plan.processes, plan.furnish)
    try:
        with installation:
            run = SoakRun(plan, installation, sample_seconds)
            return SoakReport(run.play(), run.samples)
    finally:
        if keep:
            plan.say(f"logs and data are in {installation.home}")
        else:
            with contextlib.suppress(OSError):
                installation.remove()
