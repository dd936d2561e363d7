"""What a route has to know of its vendors comes from their endpoints: one that does not say it keeps the server from starting."""

from dataclasses import replace
from typing import Any, cast

import pytest

from gateway.core.contract.aliases import Route
from gateway.core.contract.errors import ModelUnavailable
from inference import endpoints
from inference.checks import adapters_have_endpoints
from inference.endpoints import ENDPOINTS, representing, stated
from inference.interface.model import DeploymentTarget, ServedModel, UpstreamTarget
from inference.interface.plan import Endpoints
from inference.routes.embeddings.capabilities import Capabilities
from inference.routes.embeddings.represented_request import selects_representation
from inference.routes.realtime.route import REALTIME
from inference.routes.rerank.limits import Limits, limits_of
from inference.vendors.openai.chat.endpoint import OpenAIChat

STATED: list[Any] = [(Route.RERANK, "limits", Limits), (Route.EMBEDDINGS, "capabilities", Capabilities)]
DEPLOYMENT = DeploymentTarget("1", UpstreamTarget("u", "voyage", "http://u", "k"), "m")
OTHER = replace(DEPLOYMENT, upstream=replace(DEPLOYMENT.upstream, adapter="openai"))


@pytest.mark.parametrize(("route", "name", "kind"), STATED)
def test_a_vendor_that_does_not_state_what_a_route_needs_is_named_at_start(
    route: Route, name: str, kind: type[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stated(route, name, kind).keys() == ENDPOINTS[route].keys()
    silent: Endpoints = {**ENDPOINTS[route], "newcomer": OpenAIChat()}
    monkeypatch.setattr(endpoints, "ENDPOINTS", {route: silent})
    with pytest.raises(ValueError, match=f"^{route}: the endpoint of newcomer does not state its {name}$"):
        stated(route, name, kind)


def test_an_upstream_that_does_not_rerank_has_no_limits_of_another() -> None:
    limits = stated(Route.RERANK, "limits", Limits)
    assert limits_of(ServedModel("m", deployments=(DEPLOYMENT, OTHER)), limits) == limits["voyage"]
    with pytest.raises(ModelUnavailable):
        limits_of(ServedModel("m", deployments=(OTHER,)), limits)


@pytest.mark.parametrize(
    ("adapter", "selects"),
    [("cohere", True), ("representation", True), ("voyage", True), ("demo", False), ("openai", False)],
)
def test_an_upstream_selects_a_representation_if_all_of_its_embeddings_are_some(adapter: str, selects: bool) -> None:
    capabilities = stated(Route.EMBEDDINGS, "capabilities", Capabilities)
    assert capabilities.keys() == {"cohere", "demo", "openai", "representation", "voyage"}
    deployment = replace(DEPLOYMENT, upstream=replace(DEPLOYMENT.upstream, adapter=adapter))
    assert selects_representation({}, ServedModel("m", deployments=(deployment,)), capabilities) == selects


def test_an_adapter_without_an_endpoint_keeps_the_gateway_from_starting(monkeypatch: pytest.MonkeyPatch) -> None:
    assert adapters_have_endpoints() == []
    monkeypatch.setitem(cast("dict[Any, Any]", REALTIME.endpoints), "newcomer", OpenAIChat())
    monkeypatch.delitem(cast("dict[Any, Any]", REALTIME.endpoints), "realtime")
    assert [(found.id, found.msg) for found in adapters_have_endpoints()] == [
        ("inference.E001", "No route has an endpoint for the adapter realtime."),
        ("inference.E002", "No upstream can have the adapter newcomer of an endpoint."),
    ]


@pytest.mark.parametrize("route", [Route.EMBEDDINGS_CONTEXTUAL, Route.LATE_INTERACTION])
def test_routes_of_representations_know_every_adapter_that_has_some(
    route: Route,
) -> None:
    assert representing(route) == {"cohere", "demo", "representation", "voyage"}
