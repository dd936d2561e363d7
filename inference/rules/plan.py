"""What a metered call may try: the deployments of its alias, and everything that an attempt at one of them needs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic

from gateway.core.contract.aliases import Route
from gateway.core.contract.limits import UPSTREAM_CONNECT_MAX_SECONDS
from inference.rules.upstream import Attempt, Endpoint, Sent, UpstreamTarget

STREAM_MIN_SECONDS = 600.0
"""A stream that keeps talking may last this long, also where its upstream answers plain calls sooner."""

RETRY_WINDOW_SECONDS = 10.0
"""No further attempt begins later than this after the first."""


def stream_seconds(timeout_seconds: float) -> float:
    """Return how long a whole stream may last at an upstream that answers plain calls within `timeout_seconds`."""
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
class CallPlan(Generic[Sent]):
    """One call and where it may go: its route's `endpoints` by adapter, and deployments. See `Attempt` for the rest."""

    route: Route
    endpoints: Mapping[str, Endpoint[Sent]]
    deployments: tuple[DeploymentTarget, ...]
    request: Sent
    usage_id: str
    public_model: str
    public_id: str
    on_send: Callable[[], None] = field(default=lambda: None, compare=False, repr=False)

    @property
    def longest_seconds(self) -> float:
        """Bound how long it can take until this call is answered or its stream has begun, retries included."""
        longest = max((at.upstream.timeout_seconds for at in self.deployments), default=0.0)
        return RETRY_WINDOW_SECONDS + UPSTREAM_CONNECT_MAX_SECONDS + longest

    def attempt_at(self, deployment: DeploymentTarget) -> Attempt[Sent]:
        """Build one attempt of this call at one of its deployments."""
        return Attempt(
            deployment.upstream,
            deployment.model,
            self.request,
            self.usage_id,
            self.public_model,
            self.public_id,
            self.on_send,
        )


def endpoint_for(endpoints: Mapping[str, Endpoint[Sent]], deployment: DeploymentTarget) -> Endpoint[Sent] | None:
    """Return the endpoint of a deployment's protocol; None where the route has none, or may not use it."""
    return endpoint_of(endpoints, deployment.upstream.adapter)


def endpoint_of(endpoints: Mapping[str, Endpoint[Sent]], adapter: str) -> Endpoint[Sent] | None:
    """Return the endpoint of an adapter; None where the route has none, or may not use it."""
    endpoint = endpoints.get(adapter)
    return endpoint if endpoint is not None and endpoint.is_allowed else None
