"""`POST /v1/embeddings/contextual`: the route's declaration for the metering core, and its view."""

from functools import partial

from gateway.core.api.access import requires_model
from gateway.core.contract.aliases import Route
from gateway.core.http.lean import LeanAnswer, LeanRequest
from inference.endpoints import ENDPOINTS, representing
from inference.metering.bodies import read_json
from inference.metering.route import MeteredRoute
from inference.metering.serving import MeteredViewSet
from inference.queries.representations import CLOSE_AND_NOTE
from inference.routes.contextual.bound import bound_contextual
from inference.routes.contextual.reference import describe_contextual
from inference.routes.contextual.request import read_request

CONTEXTUAL = MeteredRoute(
    name=Route.EMBEDDINGS_CONTEXTUAL,
    id_prefix="emb",
    read=read_json,
    check=partial(read_request, adapters=representing(Route.EMBEDDINGS_CONTEXTUAL)),
    bound=bound_contextual,
    endpoints=ENDPOINTS[Route.EMBEDDINGS_CONTEXTUAL],
    close_function=CLOSE_AND_NOTE,
)


class ContextualEmbeddingViewSet(MeteredViewSet):
    """Embeddings of chunks in the context of their documents."""

    route = CONTEXTUAL

    @describe_contextual
    @requires_model
    async def create(self, request: LeanRequest) -> LeanAnswer:
        """Embed documents or queries."""
        return await self.serve(request)
