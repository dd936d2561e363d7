"""Sends one call upstream, and retries it when a retry cannot cost twice."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from inference.interface.model import DeploymentTarget
from inference.interface.plan import CallPlan, endpoint_for
from inference.interface.upstream import Attempt, Endpoint, Failed, Outcome, Overloaded, Rejected, Stream
from inference.metering import alarms, routing
from inference.rules.retries import may_retry, pause_before_retry

Plan = CallPlan[Any]
Try = Callable[[Endpoint[Any], Attempt[Any]], Awaitable[Outcome | Stream]]
OnAttempt = Callable[[DeploymentTarget], None]


async def send(plan: Plan, on_attempt: OnAttempt | None = None) -> Outcome:
    """Send a call and wait for its whole answer. `Overloaded` and `Unreachable` are returned once no retry is left.

    Raises nothing except cancellation. `on_attempt` is called with each deployment before it is tried.
    """
    outcome = await _attempt(plan, lambda endpoint, attempt: endpoint.send(attempt), on_attempt)
    assert isinstance(outcome, Outcome)
    return outcome


async def open_stream(plan: Plan, on_attempt: OnAttempt | None = None) -> Stream | Outcome:
    """Open a call's stream, or return the outcome if the upstream opens none. Otherwise as `send`."""
    return await _attempt(plan, lambda endpoint, attempt: endpoint.open_stream(attempt), on_attempt)


async def _attempt(plan: Plan, call: Try, on_attempt: OnAttempt | None) -> Outcome | Stream:
    plan = _servable(plan)
    if not plan.deployments:
        return alarms.unservable(plan.call.public_model, plan.route)
    started, tried = time.monotonic(), list[str]()
    while True:
        deployment = routing.pick(plan.deployments, tried)
        outcome = await _try(plan, deployment, call, on_attempt)
        tried.append(deployment.id)
        if not may_retry(outcome):
            return outcome
        pause = pause_before_retry(
            outcome,
            retries=len(tried) - 1,
            elapsed_seconds=time.monotonic() - started,
            elsewhere=routing.is_elsewhere_to_go(plan.deployments, tried),
            jitter=random.random(),  # noqa: S311 - spreads retries, protects nothing
        )
        if pause is None:
            return outcome
        await asyncio.sleep(pause)


async def _try(plan: Plan, deployment: DeploymentTarget, call: Try, on_attempt: OnAttempt | None) -> Outcome | Stream:
    """Make one attempt and update the deployment's breaker."""
    endpoint = endpoint_for(plan.route, plan.endpoints, deployment)
    assert endpoint is not None, "checked by _servable"
    if on_attempt is not None:
        on_attempt(deployment)
    try:
        outcome = await call(endpoint, plan.attempt_at(deployment))
    except BaseException:
        routing.record_abandoned(deployment)
        raise
    routing.record(deployment, outcome)
    if isinstance(outcome, Rejected | Overloaded | Failed) and outcome.alarm:  # here, because a retry may hide it
        alarms.report(deployment.upstream.name, outcome.alarm, plan.call.usage_id)
    return outcome


def _servable(plan: Plan) -> Plan:
    """Return the plan without the deployments whose adapter is unknown or does not serve this route."""
    deployments = tuple(
        deployment for deployment in plan.deployments if endpoint_for(plan.route, plan.endpoints, deployment)
    )
    return plan if len(deployments) == len(plan.deployments) else replace(plan, deployments=deployments)
