"""Tables of a route by adapter: one that lacks a row for an endpoint keeps the server from starting."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.core.contract.errors import ModelUnavailable
from inference.interface.model import DeploymentTarget, ServedModel, UpstreamTarget
from inference.interface.plan import require_vendors
from inference.routes.embeddings.route import EMBEDDINGS
from inference.routes.rerank.limits import LIMITS, limits_of
from inference.routes.rerank.route import RERANK
from inference.rules.representation import DENSE_ADAPTERS, PLAIN_ADAPTERS

TABLES: list[Any] = [(LIMITS, RERANK.endpoints), (DENSE_ADAPTERS | PLAIN_ADAPTERS, EMBEDDINGS.endpoints)]
DEPLOYMENT = DeploymentTarget("1", UpstreamTarget("u", "voyage", "http://u", "k"), "m")
OTHER = replace(DEPLOYMENT, upstream=replace(DEPLOYMENT.upstream, adapter="openai"))


@pytest.mark.parametrize(("table", "endpoints"), TABLES)
def test_a_forgotten_vendor_is_named_at_start(table: Any, endpoints: Any) -> None:
    require_vendors("a table", table, endpoints)
    with pytest.raises(ValueError, match="a table: the table and the endpoints differ in newcomer"):
        require_vendors("a table", table, {**endpoints, "newcomer": endpoints["cohere"]})
    with pytest.raises(ValueError, match="differ in cohere"):
        require_vendors("a table", set(table) - {"cohere"}, endpoints)


def test_an_upstream_that_does_not_rerank_has_no_limits_of_another() -> None:
    assert limits_of(ServedModel("m", deployments=(DEPLOYMENT, OTHER))) == LIMITS["voyage"]
    with pytest.raises(ModelUnavailable):
        limits_of(ServedModel("m", deployments=(OTHER,)))
