"""What a metered call may try: the deployments of its alias, and everything that an attempt at one of them needs."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any, Generic

from gateway.core.contract.aliases import Route
from gateway.core.contract.limits import UPSTREAM_CONNECT_MAX_SECONDS
from gateway.core.contract.values import value_class
from inference.rules.upstream import Attempt, Endpoint, Sent, UpstreamTarget

Endpoints = Mapping[str | tuple[str, Route], Endpoint[Any]]
"""A route's endpoints by the adapter that an upstream has; by adapter and another route where they translate to that."""

STREAM_MIN_SECONDS = 600.0
"""A stream that keeps talking may last this long, also where its upstream answers plain calls sooner."""

RETRY_WINDOW_SECONDS = 10.0
"""No further attempt begins later than this after the first."""


def stream_seconds(timeout_seconds: float) -> float:
    """Return how long a whole stream may last at an upstream that answers plain calls within `timeout_seconds`."""
    return max(timeout_seconds, STREAM_MIN_SECONDS)


@value_class(frozen=True, slots=True)
class DeploymentTarget:
    """One model at one upstream that serves an alias. The lowest priority goes first; equals share by weight."""

    id: str
    upstream: UpstreamTarget
    model: str
    priority: int = 0
    weight: int = 1


@value_class(frozen=True, slots=True)
class CallPlan(Generic[Sent]):
    """One call and where it may go: its route's `endpoints`, and deployments. See `Attempt` for the rest."""

    route: Route
    endpoints: Endpoints
    deployments: tuple[DeploymentTarget, ...]
    request: Sent
    usage_id: str
    public_model: str
    public_id: str
    on_send: Callable[[], None] = field(default=lambda: None, compare=False, repr=False)
    on_generation: Callable[[str], None] = field(default=lambda generation_id: None, compare=False, repr=False)

    @property
    def longest_seconds(self) -> float:
        """Bound how long it can take until this call is answered or its stream has begun, retries included."""
        return longest_seconds(self.deployments)

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
            self.on_generation,
        )


def longest_seconds(deployments: Iterable[DeploymentTarget]) -> float:
    """Bound how long a call to these deployments can take until it is answered, retries included."""
    longest = max((at.upstream.timeout_seconds for at in deployments), default=0.0)
    return RETRY_WINDOW_SECONDS + UPSTREAM_CONNECT_MAX_SECONDS + longest


def endpoint_for(route: Route, endpoints: Endpoints, deployment: DeploymentTarget) -> Endpoint[Any] | None:
    """Return the endpoint of what a deployment's upstream speaks; None where the route has none, or may not use it."""
    return endpoint_of(route, endpoints, deployment.upstream.adapter, deployment.upstream.routes)


def endpoint_of(
    route: Route, endpoints: Endpoints, adapter: str, known: frozenset[Route] | None
) -> Endpoint[Any] | None:
    """Return the endpoint of an adapter whose upstream knows these routes; None where the route has none, or may not use it.

    An upstream that does not know the route is spoken to on one that it knows, where the route can be translated to it.
    """
    if known is None or route in known:
        endpoint = endpoints.get(adapter)
    else:
        translated = (endpoints.get((adapter, other)) for other in sorted(known))
        endpoint = next((found for found in translated if found), None)
    return endpoint if endpoint is not None and endpoint.is_allowed else None
