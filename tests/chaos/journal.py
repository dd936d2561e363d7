"""The clients' records: every request of a run with its response, and the disturbances of the installation."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

CALL = "call"
TOKEN = "sign-in"
LEFT, NO_ANSWER = "left", "no answer"


@dataclass(slots=True)
class Attempt:
    """One request and its outcome. Times are seconds of the Unix clock; amounts are micro-USD."""

    purpose: str
    """CALL, TOKEN, or the name of a probe."""
    process: str
    payer: str = ""
    model: str = ""
    key: str = ""
    is_prompt: bool = True
    started_at: float = 0.0
    ended_at: float = 0.0
    status: int | None = None
    code: str = ""
    usage_id: str = ""
    hold: int | None = None
    charge: int | None = None
    is_whole: bool = False
    has_left: bool = False
    """The client disconnected on purpose."""
    failure: str = ""
    """Why there is no complete response: the connection's error, or the client's timeout."""

    @property
    def seconds(self) -> float:
        """Return how long the client waited."""
        return self.ended_at - self.started_at

    @property
    def outcome(self) -> str:
        """Describe its outcome in a few words."""
        if self.failure in (LEFT, NO_ANSWER):
            return self.failure
        return f"{self.status}" if self.is_whole else "cut off"

    @property
    def is_served(self) -> bool:
        """Return whether it succeeded normally."""
        return self.status == 200 and self.is_whole


@dataclass(frozen=True, slots=True)
class Disturbance:
    """One disturbance of the installation, over at `ended_at`; `process` names a gateway that was killed."""

    kind: str
    started_at: float
    ended_at: float
    process: str = ""


@dataclass(slots=True)
class Journal:
    """All records of clients and disturbances, in the order in which they ended."""

    attempts: list[Attempt] = field(default_factory=list)
    disturbances: list[Disturbance] = field(default_factory=list)
    lag_seconds: float = 0.0
    """What the machine itself adds to a response's time."""

    def longest_seconds(self) -> float:
        """Return how long the slowest request has taken that should be answered at once."""
        return max((attempt.seconds for attempt in self.attempts if attempt.is_prompt), default=0.0)

    def of(self, purpose: str) -> Iterable[Attempt]:
        """List the requests of one purpose."""
        return (attempt for attempt in self.attempts if attempt.purpose == purpose)

    def by_key(self) -> dict[tuple[str, str], list[Attempt]]:
        """Group the requests by call: a payer's idempotency key. Probes of a model route are calls too."""
        calls: dict[tuple[str, str], list[Attempt]] = defaultdict(list)
        for attempt in self.attempts:
            if attempt.key:
                calls[attempt.payer, attempt.key].append(attempt)
        return calls

    def away_seconds(self, attempt: Attempt) -> float:
        """Return the time during a request in which its own server process was down."""
        return sum(
            max(0.0, min(attempt.ended_at, each.ended_at) - max(attempt.started_at, each.started_at))
            for each in self.disturbances
            if each.process == attempt.process
        )

    def died_under(self, attempt: Attempt, grace_seconds: float) -> bool:
        """Return whether a request's server process was killed while it ran, or shortly after.

        The workers of a killed server serve until their supervisor ends them, so requests that began since can die too.
        """
        return any(
            attempt.started_at <= each.ended_at and each.started_at <= attempt.ended_at + grace_seconds
            for each in self.disturbances
            if each.process == attempt.process
        )
