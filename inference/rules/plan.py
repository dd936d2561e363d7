"""What a metered call may try: the deployments of its alias, and everything that an attempt at one of them needs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gateway.contract.aliases import Route
from gateway.contract.limits import UPSTREAM_CONNECT_MAX_SECONDS
from inference.adapters.base import Attempt, UpstreamTarget

STREAM_MIN_SECONDS = 600.0
"""A stream that keeps talking may last this long, also where its upstream answers plain calls sooner."""

RETRY_WINDOW_SECONDS = 10.0
"""No further attempt begins later than this after the first."""


def stream_seconds(timeout_seconds: float) -> float:
    """Say how long a whole stream may last at an upstream that answers plain calls within `timeout_seconds`."""
    return max(timeout_seconds, STREAM_MIN_SECONDS)


@dataclass(frozen=True, slots=True)
class DeploymentTarget:
    """One model at one upstream that serves an alias. The lowest priority goes first; equals share by weight."""

    id: str
    upstream: UpstreamTarget
    model: str
    priority: int = 0
    weight: int = 1


@dataclass(frozen=True, slots=True)
class CallPlan:
    """One call: vendor-shaped `body` with its output limit set, and where it may go. See `Attempt` for the rest."""

    route: Route
    alias: str
    deployments: tuple[DeploymentTarget, ...]
    body: Mapping[str, Any]
    call_id: str
    public_id: str
    show_usage: bool = False
    is_large: bool = False
    on_send: Callable[[], None] = field(default=lambda: None, compare=False, repr=False)

    @property
    def longest_seconds(self) -> float:
        """Bound how long it can take until this call is answered or its stream has begun, retries included."""
        longest = max((at.upstream.timeout_seconds for at in self.deployments), default=0.0)
        return RETRY_WINDOW_SECONDS + UPSTREAM_CONNECT_MAX_SECONDS + longest

    def attempt_at(self, deployment: DeploymentTarget) -> Attempt:
        """Describe one attempt of this call at one of its deployments."""
        return Attempt(
            route=self.route,
            target=deployment.upstream,
            model=deployment.model,
            body=self.body,
            call_id=self.call_id,
            public_model=self.alias,
            public_id=self.public_id,
            show_usage=self.show_usage,
            is_large=self.is_large,
            on_send=self.on_send,
        )
