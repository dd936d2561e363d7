"""Controls a run of nodes from start to end."""

import asyncio
import contextlib
import time

from tests.chaos import faults
from tests.chaos.journal import Disturbance
from tests.chaos.report import Report
from tests.chaos.run import Plan, Run
from tests.nodes.deaths import Deaths, Orphan
from tests.nodes.installation import PARTS, Nodes

KILLS = {"server killed": ("server",), "worker killed": ("worker",), "node killed": PARTS}
"""Which of a node's processes are killed at once. The supervisor starts them again, as that of a machine does."""
REST_SECONDS = 50.0
"""How long the load goes on after the last kill, so that its calls are closed under load as well."""


class NodesRun(Run):
    """Runs one plan on nodes. Nothing but the money is judged: so many processes on a few cores have no time to be prompt."""

    probes = False

    def __init__(self, plan: Plan, installation: Nodes, deaths: Deaths) -> None:
        super().__init__(plan, installation)
        self._nodes, self._deaths = installation, deaths

    async def _disturb(self) -> None:
        """Kill at random times, and note what each process left."""
        plan, started = self._plan, time.monotonic()
        moments = faults.moments(len(plan.kinds), plan.seconds - REST_SECONDS, self._dice)
        for moment, kind in zip(moments, plan.kinds, strict=True):
            await asyncio.sleep(max(0.0, started + moment - time.monotonic()))
            self._installation.check()
            self._journal.disturbances.append(await asyncio.to_thread(self._kill, kind))
        await asyncio.sleep(max(REST_SECONDS, started + plan.seconds - time.monotonic()))

    def _kill(self, kind: str) -> Disturbance:
        node = self._dice.choice(list(self._nodes.gateways))
        began = time.time()
        killed = self._nodes.kill_parts(node, KILLS[kind])
        left = self._deaths.note(node, self._nodes.journals(node), killed["server"], began) if "server" in killed else 0
        self._nodes.await_successors(node, killed)
        if "server" in killed:
            faults.await_response(self._nodes.gateways[node])
        self._plan.say(f"{kind}: {node}, {left} calls open")
        return Disturbance(kind, began, time.time(), node if "server" in killed else "")


def play(plan: Plan, *, keep: bool = False) -> tuple[Report, list[Orphan]]:
    """Run a plan in its own installation, whose folder is deleted unless it is to be kept."""
    installation = Nodes(plan.processes, plan.furnish)
    try:
        with installation:
            deaths = Deaths(installation.database)
            with deaths:
                report = NodesRun(plan, installation, deaths).play()
            deaths.look()
            return report, deaths.orphans()
    finally:
        if keep:
            plan.say(f"logs and data are in {installation.home}")
        else:
            with contextlib.suppress(OSError):
                installation.remove()
