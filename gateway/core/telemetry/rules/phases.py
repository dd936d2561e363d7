"""The phases of a request: what took how long, in microseconds since its arrival."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

# What the time before each mark was spent on; that between "sent" and "upstream_done" belongs to the attempts.
_BEFORE = {
    "authenticated": "Proof and token",
    "received": "Arrival of the body",
    "checked": "Checks",
    "held": "Hold in the ledger",
    "settled": "Closing in the ledger",
    "answered": "End of the answer",
}
REFUSAL = "Refusal, which records the proof"


@dataclass(frozen=True, slots=True)
class Phase:
    """A phase from `begin` to `end`. `kind` is "own" for the gateway's work, "waiting" and "answering" for an upstream's, and
    "failed" for that of an attempt that did not succeed."""

    name: str
    begin: int
    end: int
    kind: str = "own"

    @property
    def lasted(self) -> int:
        """Return the microseconds that the phase took."""
        return self.end - self.begin


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt at a deployment, as `RequestTrace.steps` has it; times are microseconds since the arrival."""

    number: int
    deployment: str
    upstream: str
    began: int
    first_byte: int | None
    ended: int | None
    status: int | None
    cause: str


def attempts_of(steps: Mapping[str, Any]) -> list[Attempt]:
    """Read the attempts of a request, in their order."""
    return [
        Attempt(
            number=number,
            deployment=each.get("deployment") or "",
            upstream=each.get("upstream") or "",
            began=each.get("began") or 0,
            first_byte=each.get("first_byte"),
            ended=each.get("ended"),
            status=each.get("status"),
            cause=each.get("cause") or "",
        )
        for number, each in enumerate(steps.get("attempts") or (), start=1)
    ]


def phases_of(steps: Mapping[str, Any], duration: int) -> list[Phase]:
    """Divide a request that took so many microseconds into its phases, in order of time."""
    marks = sorted(((str(name), int(at)) for name, at in steps.get("marks") or ()), key=itemgetter(1))
    attempts = attempts_of(steps)
    found = [*_own(marks), *(phase for each in attempts for phase in _of_attempt(each, duration))]
    last = max((at for _, at in marks), default=0)
    if "answered" not in dict(marks) and not attempts and duration > last:
        found.append(Phase(REFUSAL, last, duration))
    return sorted((phase for phase in found if phase.lasted >= 0), key=lambda phase: (phase.begin, phase.end))


def _own(marks: Sequence[tuple[str, int]]) -> Iterator[Phase]:
    before, is_held = 0, "held" in dict(marks)
    for name, at in marks:
        if name in _BEFORE:
            is_refusal = name == "answered" and not is_held
            yield Phase(REFUSAL if is_refusal else _BEFORE[name], before, at)
        before = at


def _of_attempt(attempt: Attempt, duration: int) -> Iterator[Phase]:
    name, end = f"Attempt {attempt.number}: {attempt.upstream or 'upstream'}", attempt.ended or duration
    if attempt.first_byte is None:
        yield Phase(name, attempt.began, end, "failed" if attempt.cause else "waiting")
        return
    yield Phase(f"{name}, until its first byte", attempt.began, attempt.first_byte, "waiting")
    yield Phase(f"{name}, its answer", attempt.first_byte, end, "failed" if attempt.cause else "answering")
