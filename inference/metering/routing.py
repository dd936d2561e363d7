"""Chooses a deployment by its recent outcomes in this process: each has a circuit breaker. Times are seconds of a monotonic clock."""

import random
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial

from inference.interface.model import DeploymentTarget
from inference.interface.upstream import Ambiguous, Failed, Outcome, Overloaded, Rejected, Stream, Unreachable

FAILURES_MAX = 3
"""The number of consecutive failures that open the breaker; a success resets the count."""

ASIDE_MIN_SECONDS = 1.0
ASIDE_MAX_SECONDS = 60.0
PROBE_SECONDS = 30.0
"""The time after which an unfinished probe no longer prevents others."""

_BREAKERS_MAX = 10_000

chance = random.Random()  # noqa: S311 - spreads load, protects nothing
"""A generator of its own: whoever seeds Python's global one, such as a test, expects nobody else to draw from it."""


@dataclass(slots=True)
class Breaker:
    """One deployment's breaker in one process: closed, open, or half open with one probe in progress. `upstream` is its name."""

    upstream: str = ""
    failures: int = 0
    times_aside: int = 0
    aside_until: float = 0.0
    probing_until: float = 0.0

    def is_open(self, now: float) -> bool:
        """Return whether the breaker is open, or another call is probing the deployment."""
        return now < self.aside_until or now < self.probing_until

    def available_at(self) -> float:
        """Return when the deployment may be tried again."""
        return max(self.aside_until, self.probing_until)

    def chosen(self, now: float) -> None:
        """Record that a call uses the deployment: the first one after the open time is the only probe."""
        if self.times_aside and not self.is_open(now):
            self.probing_until = now + PROBE_SECONDS

    def succeeded(self) -> None:
        """Reset the failures."""
        self.failures = self.times_aside = 0
        self.aside_until = self.probing_until = 0.0

    def failed(self, now: float, wait_seconds: float | None = None) -> None:
        """Count a failure. One with its own wait time, and every failed probe, opens the breaker at once."""
        self.failures += 1
        self.probing_until = 0.0
        if wait_seconds or self.times_aside or self.failures >= FAILURES_MAX:
            self._set_aside(now, wait_seconds or 0.0)

    def probed(self) -> None:
        """Allow the next call to probe: this one is still running, or was given up without a result."""
        self.probing_until = 0.0

    def _set_aside(self, now: float, wait_seconds: float) -> None:
        backoff = ASIDE_MIN_SECONDS * 2 ** min(self.times_aside, 10)
        self.aside_until = now + min(max(backoff, wait_seconds), ASIDE_MAX_SECONDS)
        self.times_aside += 1


_breakers: dict[str, Breaker] = {}


def pick(deployments: Sequence[DeploymentTarget], tried: Collection[str] = ()) -> DeploymentTarget:
    """Choose a deployment for a call. If every breaker is open, take the deployment whose breaker closes soonest.

    Deployments that the call has `tried` come last. `deployments` is not empty.
    """
    now = time.monotonic()
    fresh = untried(deployments, tried)
    chosen = choose(fresh, lambda deployment: _breaker(deployment).is_open(now), chance.random())
    chosen = chosen or min(fresh or deployments, key=_soonest_back)
    _breaker(chosen).chosen(now)
    return chosen


def choose(
    deployments: Sequence[DeploymentTarget], is_open: Callable[[DeploymentTarget], bool], share: float
) -> DeploymentTarget | None:
    """Choose by weight among the available deployments with the first priority; None if the breakers of all are open.

    `share` is a random number in [0, 1).
    """
    usable = [deployment for deployment in deployments if not is_open(deployment)]
    if len(usable) < 2:
        return usable[0] if usable else None
    first = min(deployment.priority for deployment in usable)
    return _by_weight([deployment for deployment in usable if deployment.priority == first], share)


def is_elsewhere_to_go(deployments: Sequence[DeploymentTarget], tried: Collection[str]) -> bool:
    """Return whether there is a deployment that the call has not tried and whose breaker is not open."""
    now = time.monotonic()
    return any(not _breaker(deployment).is_open(now) for deployment in untried(deployments, tried))


def untried(deployments: Sequence[DeploymentTarget], tried: Collection[str]) -> Sequence[DeploymentTarget]:
    """Return the deployments that a call has not tried."""
    return [deployment for deployment in deployments if deployment.id not in tried] if tried else deployments


def note_outcome(deployment: DeploymentTarget, outcome: Outcome | Stream) -> None:
    """Update the deployment's breaker with an outcome. A refusal that the client caused counts as a success."""
    breaker = _breaker(deployment)
    if isinstance(outcome, Overloaded):
        breaker.failed(time.monotonic(), outcome.retry_after)
    elif _is_failure(outcome):
        breaker.failed(time.monotonic())
    elif isinstance(outcome, Stream):
        breaker.probed()
        outcome.on_end = partial(record_stream_end, deployment)
    else:
        breaker.succeeded()


def record_stream_end(deployment: DeploymentTarget, whole: bool) -> None:
    """Update the deployment's breaker with the end of a stream. A stream that breaks off counts as a failure."""
    if whole:
        _breaker(deployment).succeeded()
    else:
        _breaker(deployment).failed(time.monotonic())


def aside_seconds(deployment: DeploymentTarget) -> float:
    """Return for how many seconds the deployment's breaker is still open, 0 if it is not."""
    return max(_breaker(deployment).aside_until - time.monotonic(), 0.0)


def record_abandoned(deployment: DeploymentTarget) -> None:
    """Record that a call was abandoned before its outcome was known."""
    _breaker(deployment).probed()


def upstreams() -> dict[str, bool]:
    """Return for each upstream that this process has called, by name, whether a breaker of its deployments is open."""
    now = time.monotonic()
    found: dict[str, bool] = {}
    for breaker in _breakers.values():
        found[breaker.upstream] = found.get(breaker.upstream, False) or breaker.is_open(now)
    return found


def forget() -> None:
    """Reset all breakers, as in a new process."""
    _breakers.clear()


def _by_weight(deployments: Sequence[DeploymentTarget], share: float) -> DeploymentTarget:
    left = share * sum(deployment.weight for deployment in deployments)
    for deployment in deployments:
        left -= deployment.weight
        if left < 0:
            return deployment
    return deployments[-1]


def _is_failure(outcome: Outcome | Stream) -> bool:
    if isinstance(outcome, Rejected):
        return outcome.alarm is not None
    return isinstance(outcome, Unreachable | Failed | Ambiguous)


def _soonest_back(deployment: DeploymentTarget) -> tuple[float, int]:
    return _breaker(deployment).available_at(), deployment.priority


def _breaker(deployment: DeploymentTarget) -> Breaker:
    breaker = _breakers.get(deployment.id)
    if breaker is None:
        if len(_breakers) >= _BREAKERS_MAX:
            _breakers.clear()
        breaker = _breakers[deployment.id] = Breaker(deployment.upstream.name)
    return breaker
