"""`POST /v1/rerank`: the route's declaration for the metering core, and its view."""

from functools import partial

from gateway.core.api.access import requires_model
from gateway.core.contract.aliases import Route
from gateway.core.http.lean import LeanAnswer, LeanRequest
from inference.endpoints import ENDPOINTS, stated
from inference.metering.bodies import read_json
from inference.metering.route import MeteredRoute
from inference.metering.serving import MeteredViewSet
from inference.routes.rerank.bound import bound_rerank
from inference.routes.rerank.limits import Limits
from inference.routes.rerank.reference import describe_rerank
from inference.routes.rerank.request import read_request

RERANK = MeteredRoute(
    name=Route.RERANK,
    id_prefix="rrk",
    read=read_json,
    check=partial(read_request, by_adapter=stated(Route.RERANK, "limits", Limits)),
    bound=bound_rerank,
    endpoints=ENDPOINTS[Route.RERANK],
)


class RerankViewSet(MeteredViewSet):
    """Documents in the order of their relevance to a query."""

    route = RERANK

    @describe_rerank
    @requires_model
    async def create(self, request: LeanRequest) -> LeanAnswer:
        """Rerank the documents."""
        return await self.serve(request)
