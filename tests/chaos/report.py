"""Renders a run as tables, for the terminal and `docs/chaos.md`."""

import os
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.tables import table
from tests.chaos.evidence import Evidence
from tests.chaos.journal import CALL
from tests.chaos.recovery import returns

BEGIN = "<!-- measured: written by `make chaos` with --write -->"
EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of a run. Commits are medians in milliseconds, on the fast disk and on the slow one."""

    command: str
    seed: int
    seconds: float
    processes: int
    fast_commit: float
    slow_commit: float


@dataclass(frozen=True, slots=True)
class Report:
    """The conditions of a run, its evidence, and every case of each verdict."""

    conditions: Conditions
    evidence: Evidence
    cases: Mapping[str, Sequence[str]]

    @property
    def is_clean(self) -> bool:
        """Return whether all verdicts are empty."""
        return not any(self.cases.values())

    def markdown(self) -> str:
        """Render the whole report."""
        verdicts = table(["What must not happen", "Cases"], [[name, f"{len(c):,}"] for name, c in self.cases.items()])
        return "\n\n".join([self._opening(), verdicts, self._faults(), self._calls()])

    def examples(self) -> str:
        """Show the first few cases of each kind."""
        return "\n".join(f"{name}: {case}" for name, cases in self.cases.items() for case in cases[:EXAMPLES])

    def _opening(self) -> str:
        made, journal = self.conditions, self.evidence.journal
        slowest = max((a.seconds for a in journal.attempts if a.is_prompt and not a.has_left), default=0.0)
        return (
            f"`{made.command}` with seed {made.seed}, on {os.cpu_count()} cores, {platform.system()}: {made.seconds:.0f} "
            f"s of load on {made.processes} server processes, {len(journal.disturbances)} faults, "
            f"{len(journal.attempts):,} requests, {len(self.evidence.calls):,} calls in the ledger, "
            f"{sum(map(len, self.evidence.works.values())):,} at the upstream. A commit took {made.fast_commit:.1f} ms, "
            f"on the slow disk {made.slow_commit:.1f} ms. The slowest answer took {slowest:.1f} s."
        )

    def _faults(self) -> str:
        """Render how often each fault was inflicted, and how long failures lasted afterwards."""
        times = Counter(each.kind for each in self.evidence.journal.disturbances)
        longest: dict[str, float] = dict.fromkeys(times, 0.0)
        for each in returns(self.evidence.journal):
            longest[each.kind] = max(longest[each.kind], each.seconds)
        rows = [[kind, str(count), f"{longest[kind]:.1f}"] for kind, count in sorted(times.items())]
        return table(["Fault", "Times", "Last failure after its end, s"], rows)

    def _calls(self) -> str:
        """Render the outcomes of the calls, and the clients' responses."""
        states = Counter(call.state for call in self.evidence.calls.values())
        outcomes = Counter(attempt.code or attempt.outcome for attempt in self.evidence.journal.of(CALL))
        rows = [["the ledger", *_listed(states)], ["the clients", *_listed(outcomes)]]
        return table(["What became of the calls, by", "Cases"], rows)


def _listed(counted: Counter[str]) -> list[str]:
    return [", ".join(f"{name} {count:,}" for name, count in counted.most_common())]
