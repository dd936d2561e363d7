"""Chooses a deployment by its recent outcomes in this process."""

import random
import time
from collections.abc import Callable, Collection, Sequence
from functools import partial

from inference.interface.model import DeploymentTarget
from inference.interface.upstream import Ambiguous, Failed, Outcome, Overloaded, Rejected, Stream, Unreachable
from inference.rules.breaker import Breaker

_BREAKERS_MAX = 10_000
_breakers: dict[str, Breaker] = {}


def pick(deployments: Sequence[DeploymentTarget], tried: Collection[str] = ()) -> DeploymentTarget:
    """Choose a deployment for a call. If every breaker is open, take the deployment whose breaker closes soonest.

    Deployments that the call has `tried` come last. `deployments` is not empty.
    """
    now = time.monotonic()
    fresh = untried(deployments, tried)
    chosen = choose(fresh, lambda deployment: _breaker(deployment).is_open(now), random.random())  # noqa: S311
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


def record_abandoned(deployment: DeploymentTarget) -> None:
    """Record that a call was abandoned before its outcome was known."""
    _breaker(deployment).probed()


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
        breaker = _breakers[deployment.id] = Breaker()
    return breaker
