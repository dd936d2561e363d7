"""Sends one call upstream, and retries it when a retry cannot cost twice."""

import asyncio
import random
import time
from collections.abc import Callable
from typing import Any

from inference.interface.model import DeploymentTarget
from inference.interface.plan import CallPlan
from inference.interface.upstream import Attempt, Endpoint, Failed, Outcome, Overloaded, Rejected, Stream
from inference.metering import alarms, routing
from inference.rules.retries import may_retry, pause_before_retry

Plan = CallPlan[Any]
OnAttempt = Callable[[DeploymentTarget], None]


async def send(plan: Plan, on_attempt: OnAttempt | None = None) -> Outcome:
    """Send a call and wait for its whole answer. `Overloaded` and `Unreachable` are returned once no retry is left.

    Raises nothing except cancellation. `on_attempt` is called with each deployment before it is tried.
    """
    outcome = await _send(plan, on_attempt, streams=False)
    assert isinstance(outcome, Outcome)
    return outcome


async def open_stream(plan: Plan, on_attempt: OnAttempt | None = None) -> Stream | Outcome:
    """Open a call's stream, or return the outcome if the upstream opens none. Otherwise as `send`."""
    return await _send(plan, on_attempt, streams=True)


async def _send(plan: Plan, on_attempt: OnAttempt | None, *, streams: bool) -> Outcome | Stream:
    endpoints = plan.endpoints_by_id()
    deployments = [deployment for deployment in plan.deployments if deployment.id in endpoints]
    if not deployments:
        return alarms.unservable(plan.call.public_model, plan.route)
    started, tried = time.monotonic(), list[str]()
    while True:
        deployment = routing.pick(deployments, tried)
        if on_attempt is not None:
            on_attempt(deployment)
        outcome = await _attempt(plan, deployment, endpoints[deployment.id], streams=streams)
        tried.append(deployment.id)
        if not may_retry(outcome):
            return outcome
        pause = pause_before_retry(
            outcome,
            retries=len(tried) - 1,
            elapsed_seconds=time.monotonic() - started,
            elsewhere=routing.is_elsewhere_to_go(deployments, tried),
            jitter=random.random(),  # noqa: S311 - spreads retries, protects nothing
        )
        if pause is None:
            return outcome
        await asyncio.sleep(pause)


async def _attempt(
    plan: Plan, deployment: DeploymentTarget, endpoint: Endpoint[Any], *, streams: bool
) -> Outcome | Stream:
    """Make one attempt and update the deployment's breaker."""
    attempt = Attempt(deployment.upstream, deployment.model, plan.request, plan.call)
    try:
        outcome = await (endpoint.open_stream(attempt) if streams else endpoint.send(attempt))
    except BaseException:
        routing.record_abandoned(deployment)
        raise
    routing.note_outcome(deployment, outcome)
    if isinstance(outcome, Rejected | Overloaded | Failed) and outcome.alarm:  # here, because a retry may hide it
        alarms.report(deployment.upstream.name, outcome.alarm, plan.call.usage_id)
    return outcome
