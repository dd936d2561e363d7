"""POST /v1/embeddings."""

from gateway.core.api.access import requires_model
from gateway.core.api.schema import refuses
from gateway.core.contract.errors import ManifestMismatch
from gateway.core.http.lean import LeanAnswer, LeanRequest
from inference.metering.viewset import MeteredViewSet
from inference.routes.embeddings.reference import describe_embeddings
from inference.routes.embeddings.route import EMBEDDINGS


class EmbeddingViewSet(MeteredViewSet):
    """Embeddings of texts, token lists or images."""

    route = EMBEDDINGS

    @describe_embeddings
    @refuses(ManifestMismatch)
    @requires_model
    async def create(self, request: LeanRequest) -> LeanAnswer:
        """Embed the input."""
        return await self.serve(request)
