"""What all promotions of a run amount to, what must not be among it, and the table of it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median

from bench.tables import table

BACK_SECONDS = 5.0


@dataclass
class Figures:
    """Counts over all promotions; seconds since each promotion, for each process."""

    may_lose: bool
    promotions: int = 0
    receipts: int = 0
    streams: int = 0
    repeated: int = 0
    untrue: int = 0
    lost: int = 0
    recorded: int = 0
    logged: int = 0
    named_wrongly: int = 0
    charged_twice: int = 0
    drift_microusd: int = 0
    proofs_used_again: int = 0
    accepted_twice: int = 0
    on_former: int = 0
    ready_seconds: list[float] = field(default_factory=list)
    failing_seconds: list[float] = field(default_factory=list)
    passing_seconds: list[float] = field(default_factory=list)
    silent_seconds: list[float] = field(default_factory=list)
    answers: Counter[object] = field(default_factory=Counter)
    answers_beside_former: Counter[object] = field(default_factory=Counter)

    def violations(self) -> list[str]:
        """Return what must not be."""
        must_be_zero = ("untrue", "named_wrongly", "charged_twice", "drift_microusd", "accepted_twice", "on_former")
        found = [f"{name}: {value}" for name in must_be_zero if (value := getattr(self, name))]
        if self.lost and not self.may_lose:
            found.append(f"lost: {self.lost}")
        if not self.lost and self.may_lose:
            found.append("nothing was lost, so nothing was measured")
        found += [
            f"{self.lost - named} of {self.lost} not {how}"
            for how, named in (("recorded", self.recorded), ("logged", self.logged))
            if named != self.lost
        ]
        slowest = max(self.ready_seconds + self.failing_seconds, default=0.0)
        if slowest > BACK_SECONDS:
            found.append(f"a process was back after {slowest:.1f} s")
        return found

    def rows(self) -> dict[str, str]:
        """Render each figure under its name."""
        return {
            "promotions": str(self.promotions),
            "receipts, of them in streams": f"{self.receipts:,}, {self.streams:,}",
            "of them for a repeated key": f"{self.repeated:,}",
            "receipts with another charge than the ledger's": str(self.untrue),
            "receipts that the new primary lacks": f"{self.lost:,}",
            "of them logged as critical, and recorded for operators": f"{self.logged:,}, {self.recorded:,}",
            "receipts named as lost that are not": str(self.named_wrongly),
            "keys charged twice": str(self.charged_twice),
            "wallets' difference from the charges, in micro-USD": str(self.drift_microusd),
            "used proofs sent again, of them accepted": f"{self.proofs_used_again:,}, {self.accepted_twice}",
            "calls that a former primary got after it returned": str(self.on_former),
            "process ready after the promotion, s": spread(self.ready_seconds),
            "last call answered with 503 or not at all, s": spread(self.failing_seconds),
            "first call that passes, s": spread(self.passing_seconds),
            "longest time of a caller without a receipt, s": spread(self.silent_seconds),
            "what must not be": "; ".join(self.violations()) or "nothing",
            "answers": listed(self.answers),
            "answers while a former primary runs too": listed(self.answers_beside_former),
        }


measured: dict[str, Figures] = {}
"""The figures of this run, by the way of replication."""


def table_of(ways: Mapping[str, Figures]) -> str:
    """Render all ways side by side."""
    columns = [figures.rows() for figures in ways.values()]
    return table(["", *ways], [[name, *(column[name] for column in columns)] for name in columns[0]])


def spread(seconds: list[float]) -> str:
    """Render the median and the longest."""
    return f"median {median(seconds):.1f}, at most {max(seconds):.1f}" if seconds else "-"


def listed(counted: Counter[object]) -> str:
    """Render how often each answer was given."""
    return ", ".join(f"{number:,} times {answer}" for answer, number in counted.most_common()) or "-"
