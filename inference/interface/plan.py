"""The plan of a metered call: its alias's deployments, and everything needed for attempts at them."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Generic

from gateway.core.contract.aliases import Route
from gateway.core.contract.limits import UPSTREAM_CONNECT_MAX_SECONDS
from gateway.core.contract.values import value_class
from inference.interface.model import DeploymentTarget, ServedModel
from inference.interface.upstream import CallContext, Endpoint, Sent

Endpoints = Mapping[str | tuple[str, Route], Endpoint[Any]]
"""A route's endpoints by the upstream's adapter; by adapter and other route if they translate to that route."""

STREAM_MIN_SECONDS = 600.0
"""The maximum duration of an active stream, even if its upstream's timeout for plain calls is shorter."""

RETRY_WINDOW_SECONDS = 10.0
"""The time after the first attempt within which others may start."""


def stream_seconds(timeout_seconds: float) -> float:
    """Return how long a stream may last at an upstream with this timeout for plain calls."""
    return max(timeout_seconds, STREAM_MIN_SECONDS)


@value_class(frozen=True, slots=True)
class CallPlan(Generic[Sent]):
    """One call and where it may go: its route's `endpoints`, and its deployments."""

    route: Route
    endpoints: Endpoints
    deployments: tuple[DeploymentTarget, ...]
    request: Sent
    call: CallContext

    def with_fallback(self, model: ServedModel, request: Sent) -> "CallPlan[Sent]":
        """Return the plan of the same call with its fallback model, and the request that is sent there."""
        context = replace(self.call, public_model=model.name)
        return replace(self, deployments=model.deployments, request=request, call=context)

    def endpoints_by_id(self) -> dict[str, Endpoint[Any]]:
        """Map the ids of the deployments that can serve the call to their endpoints."""
        found = ((at.id, endpoint_for(self.route, self.endpoints, at)) for at in self.deployments)
        return {name: endpoint for name, endpoint in found if endpoint is not None}


def longest_seconds(deployments: Iterable[DeploymentTarget]) -> float:
    """Return the maximum time until a call to these deployments is answered or its stream has begun, retries included."""
    longest = max((at.upstream.timeout_seconds for at in deployments), default=0.0)
    return RETRY_WINDOW_SECONDS + UPSTREAM_CONNECT_MAX_SECONDS + longest


def endpoint_for(route: Route, endpoints: Endpoints, deployment: DeploymentTarget) -> Endpoint[Any] | None:
    """Return the endpoint for a deployment's protocol; None if the route has none, or may not use it."""
    return endpoint_of(route, endpoints, deployment.upstream.adapter, deployment.upstream.routes)


def can_serve(route: Route, endpoints: Endpoints, deployments: Iterable[DeploymentTarget]) -> bool:
    """Return whether a deployment's protocol has an endpoint for the route."""
    return any(endpoint_for(route, endpoints, deployment) for deployment in deployments)


def endpoint_of(
    route: Route, endpoints: Endpoints, adapter: str, known: frozenset[Route] | None
) -> Endpoint[Any] | None:
    """Return the endpoint of an adapter whose upstream supports these routes; None if the route has none, or may not
    use it.

    If the upstream does not support the route, it is called on one that it supports and to which the route can be
    translated.
    """
    if known is None or route in known:
        endpoint = endpoints.get(adapter)
    else:
        translated = (endpoints.get((adapter, other)) for other in sorted(known))
        endpoint = next((found for found in translated if found), None)
    return endpoint if endpoint is not None and endpoint.is_allowed else None
