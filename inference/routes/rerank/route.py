"""Declares the rerank route to the metering core."""

from functools import partial

from gateway.core.contract.aliases import Route
from inference.endpoints import ENDPOINTS, stated
from inference.metering.json_route import read_json
from inference.metering.route import MeteredRoute
from inference.routes.rerank.bound import bound_rerank
from inference.routes.rerank.limits import Limits
from inference.routes.rerank.request import read_request

RERANK = MeteredRoute(
    name=Route.RERANK,
    id_prefix="rrk",
    read=read_json,
    check=partial(read_request, by_adapter=stated(Route.RERANK, "limits", Limits)),
    bound=bound_rerank,
    endpoints=ENDPOINTS[Route.RERANK],
)
