"""Renders a run as tables, for the terminal and the documentation."""

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.tables import table
from tests.upgrade.journal import Journal

if TYPE_CHECKING:
    from tests.upgrade.run import Plan

EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class Report:
    """What was done, what clients saw, and every case of each kind."""

    command: str
    plan: "Plan"
    seconds: float
    replaced: int
    crossed: int
    journal: Journal
    cases: Mapping[str, Sequence[str]]

    @property
    def is_clean(self) -> bool:
        """Return whether there is no case."""
        return not any(self.cases.values())

    def markdown(self) -> str:
        """Render the conditions, the cases, and how everything ended."""
        cases = table(["What must not happen", "Cases"], [[kind, f"{len(c):,}"] for kind, c in self.cases.items()])
        endings = [
            [kind, ", ".join(f"{ending} {count:,}" for ending, count in counts.most_common())]
            for kind, counts in sorted(self.journal.endings().items())
        ]
        return "\n\n".join([self._opening(), cases, table(["Sent", "How it ended"], endings)])

    def examples(self) -> str:
        """Show the first cases of each kind."""
        return "\n".join(f"{kind}: {case}" for kind, cases in self.cases.items() for case in cases[:EXAMPLES])

    def _opening(self) -> str:
        compared = f", {self.crossed} comparisons of two nodes" if self.crossed else ""
        return (
            f"`{self.command}`, on {os.cpu_count()} cores, {platform.system()}: two nodes of {self.plan.workers} server "
            f"processes behind {self.plan.kind}, {self.replaced} replaced in {self.seconds:.0f} s of load{compared}."
        )
