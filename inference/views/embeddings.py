"""POST /v1/embeddings."""

from django.http.response import HttpResponseBase

from gateway.api.access import requires_model
from gateway.api.lean import LeanRequest
from inference.rules.embeddings import EmbeddingRules
from inference.serializers.reference import describe_embeddings
from inference.views.metered import MeteredViewSet


class EmbeddingViewSet(MeteredViewSet):
    """Embeddings of texts or token lists."""

    rules = EmbeddingRules()

    @describe_embeddings
    @requires_model
    async def create(self, request: LeanRequest) -> HttpResponseBase:
        """Embed the input."""
        return await self.serve(request)
