"""POST /v1/embeddings/contextual."""

from gateway.core.api.access import requires_model
from gateway.core.http.lean import LeanAnswer, LeanRequest
from inference.metering.viewset import MeteredViewSet
from inference.routes.contextual.reference import describe_contextual
from inference.routes.contextual.route import CONTEXTUAL


class ContextualEmbeddingViewSet(MeteredViewSet):
    """Embeddings of chunks in the context of their documents."""

    route = CONTEXTUAL

    @describe_contextual
    @requires_model
    async def create(self, request: LeanRequest) -> LeanAnswer:
        """Embed documents or queries."""
        return await self.serve(request)
