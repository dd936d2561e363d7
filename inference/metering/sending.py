"""Sends one call upstream, and retries it when a retry cannot cost twice."""

import asyncio
import time
from collections.abc import Callable
from typing import Any, TypeGuard

from gateway.core.contract.limits import UPSTREAM_RETRIES_MAX
from inference.interface.model import DeploymentTarget
from inference.interface.plan import RETRY_WINDOW_SECONDS, CallPlan
from inference.interface.upstream import Attempt, Endpoint, Failed, Outcome, Overloaded, Rejected, Stream, Unreachable
from inference.metering import alarms, health, routing, upstream_keys

RETRY_AFTER_MAX_SECONDS = 2.0
_BACKOFF_SECONDS = 0.1

Plan = CallPlan[Any]
OnAttempt = Callable[[DeploymentTarget], None]
OnOutcome = Callable[[Outcome | Stream], None]


async def send(plan: Plan, on_attempt: OnAttempt | None = None, on_outcome: OnOutcome | None = None) -> Outcome:
    """Send a call and wait for its whole answer. `Overloaded` and `Unreachable` are returned once no retry is left.

    Raises nothing except cancellation. `on_attempt` is called with each deployment before it is tried, `on_outcome` with what came
    of it.
    """
    outcome = await _send(plan, on_attempt, on_outcome, streams=False)
    assert isinstance(outcome, Outcome)
    return outcome


async def open_stream(
    plan: Plan, on_attempt: OnAttempt | None = None, on_outcome: OnOutcome | None = None
) -> Stream | Outcome:
    """Open a call's stream, or return the outcome if the upstream opens none. Otherwise as `send`."""
    return await _send(plan, on_attempt, on_outcome, streams=True)


async def _send(
    plan: Plan, on_attempt: OnAttempt | None, on_outcome: OnOutcome | None, *, streams: bool
) -> Outcome | Stream:
    endpoints = plan.endpoints_by_id()
    deployments = [deployment for deployment in plan.deployments if deployment.id in endpoints]
    if not deployments:
        return alarms.unservable(plan.call.public_model, plan.route)
    started, tried = time.monotonic(), list[str]()
    while True:
        deployment = routing.pick(deployments, tried)
        if on_attempt is not None:
            on_attempt(deployment)
        outcome = await _attempt(plan, deployment, endpoints[deployment.id], started, streams=streams)
        if on_outcome is not None:
            on_outcome(outcome)
        tried.append(deployment.id)
        if not may_retry(outcome):
            return outcome
        pause = pause_before_retry(
            outcome,
            retries=len(tried) - 1,
            elapsed_seconds=time.monotonic() - started,
            elsewhere=routing.is_elsewhere_to_go(deployments, tried),
            jitter=routing.chance.random(),
        )
        if pause is None:
            return outcome
        await asyncio.sleep(pause)


async def _attempt(
    plan: Plan, deployment: DeploymentTarget, endpoint: Endpoint[Any], started: float, *, streams: bool
) -> Outcome | Stream:
    """Make one attempt and update the deployment's breaker."""
    try:
        outcome = await _with_valid_key(plan, deployment, endpoint, started, streams=streams)
    except BaseException:
        routing.record_abandoned(deployment)
        raise
    routing.note_outcome(deployment, outcome)
    health.note(deployment, outcome)
    if isinstance(outcome, Rejected | Overloaded | Failed) and outcome.alarm:  # here, because a retry may hide it
        alarms.report(deployment.upstream.name, outcome.alarm, plan.call.usage_id)
    return outcome


async def _with_valid_key(
    plan: Plan, deployment: DeploymentTarget, endpoint: Endpoint[Any], started: float, *, streams: bool
) -> Outcome | Stream:
    """Send with the upstream's key. If it is refused while another one is valid too, send with that one.

    A refused key has cost nothing, unless the upstream bills errors: then the call is not sent again, and only later ones begin
    with the other key. The call's deadline allows for attempts that begin within the window for retries.
    """
    first, *others = upstream_keys.keyed(deployment.upstream)
    while True:
        attempt = Attempt(first, deployment.model, plan.request, plan.call)
        outcome = await (endpoint.open_stream(attempt) if streams else endpoint.send(attempt))
        alarm = upstream_keys.refusal_of(outcome)
        if alarm is None:
            return outcome
        upstream_keys.note_refused(first)
        if not others or first.bills_errors or time.monotonic() - started > RETRY_WINDOW_SECONDS:
            return outcome
        alarms.report(first.name, alarm, plan.call.usage_id)
        first = others.pop(0)


def may_retry(outcome: object) -> TypeGuard[Overloaded | Unreachable]:
    """Return whether nothing can have been taken or cost anything, so that the call may be sent again."""
    return isinstance(outcome, Overloaded | Unreachable)


def pause_before_retry(
    outcome: object, *, retries: int, elapsed_seconds: float, elsewhere: bool, jitter: float
) -> float | None:
    """Return how many seconds to wait before the next attempt, or None if this outcome is final.

    `elsewhere`: an untried deployment is left, which is tried at once. `jitter` is a random number in [0, 1). If an
    upstream requests a longer wait than clients should bear, the call is not retried there.
    """
    if not may_retry(outcome) or retries >= UPSTREAM_RETRIES_MAX:
        return None
    pause = 0.0 if elsewhere else _backoff(outcome, retries, jitter)
    if pause is None or elapsed_seconds + pause > RETRY_WINDOW_SECONDS:
        return None
    return pause


def _backoff(outcome: Overloaded | Unreachable, retries: int, jitter: float) -> float | None:
    backoff = _BACKOFF_SECONDS * 2**retries * (0.5 + jitter)
    retry_after = (outcome.retry_after or 0.0) if isinstance(outcome, Overloaded) else 0.0
    return max(backoff, retry_after) if retry_after <= RETRY_AFTER_MAX_SECONDS else None
