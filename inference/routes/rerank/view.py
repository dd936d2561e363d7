"""POST /v1/rerank."""

from gateway.core.api.access import requires_model
from gateway.core.http.lean import LeanAnswer, LeanRequest
from inference.metering.viewset import MeteredViewSet
from inference.routes.rerank.reference import describe_rerank
from inference.routes.rerank.route import RERANK


class RerankViewSet(MeteredViewSet):
    """Documents in the order of their relevance to a query."""

    route = RERANK

    @describe_rerank
    @requires_model
    async def create(self, request: LeanRequest) -> LeanAnswer:
        """Rerank the documents."""
        return await self.serve(request)
