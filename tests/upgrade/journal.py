"""What clients saw: one record for each request, stream and session, however it ended."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

CALL, SLOW_CALL, STREAM, SESSION, REPEAT, READ, TOKEN = (
    "call",
    "slow call",
    "stream",
    "session",
    "repeat",
    "read",
    "sign-in",
)
WHOLE, CUT, TURNED_AWAY, REFUSED, UNANSWERED = "whole", "cut in order", "turned away", "refused", "without an answer"
"""How one ends: as it should; by the end of its server, with the error event and the receipt; by 503 `not_ready`; by another error of
the gateway; or by none, such as a lost connection, a broken stream or an answer of the proxy itself."""


@dataclass(slots=True)
class Exchange:
    """One of them. `at` counts seconds from the start of the load, `charge` is what the receipt says in micro-USD."""

    kind: str
    at: float
    key: str = ""
    ending: str = UNANSWERED
    status: int = 0
    code: str = ""
    usage_id: str = ""
    charge: int | None = None
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.kind} at {self.at:.1f} s: {self.ending} {self.status or ''} {self.code} {self.usage_id} {self.detail}"


@dataclass(slots=True)
class Journal:
    """All of them, and whatever else must not have happened, by what it is."""

    exchanges: list[Exchange] = field(default_factory=list)
    cases: list[tuple[str, str]] = field(default_factory=list)

    def endings(self) -> dict[str, Counter[str]]:
        """Count by kind and ending."""
        counts: dict[str, Counter[str]] = {}
        for each in self.exchanges:
            counts.setdefault(each.kind, Counter())[each.ending] += 1
        return counts

    def of(self, *endings: str) -> Iterator[Exchange]:
        """Yield those with one of these endings."""
        return (each for each in self.exchanges if each.ending in endings)
