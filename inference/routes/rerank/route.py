"""Declares the rerank route to the metering core."""

from gateway.core.contract.aliases import Route
from inference.endpoints import ENDPOINTS
from inference.interface.plan import require_vendors
from inference.metering.json_route import read_json
from inference.metering.route import MeteredRoute
from inference.routes.rerank.bound import bound_rerank
from inference.routes.rerank.limits import LIMITS
from inference.routes.rerank.request import read_request

RERANK = MeteredRoute(
    name=Route.RERANK,
    id_prefix="rrk",
    read=read_json,
    check=read_request,
    bound=bound_rerank,
    endpoints=ENDPOINTS[Route.RERANK],
)
require_vendors("limits of reranking", LIMITS, RERANK.endpoints)
