"""`POST /v1/embeddings`: the route's declaration for the metering core, and its view."""

from functools import partial

from gateway.core.api.access import requires_model
from gateway.core.api.schema import refuses
from gateway.core.contract.aliases import Route
from gateway.core.contract.errors import ManifestMismatch
from gateway.core.http.lean import LeanAnswer, LeanRequest
from inference.endpoints import ENDPOINTS, stated
from inference.metering.bodies import read_json_with_images
from inference.metering.route import MeteredRoute
from inference.metering.serving import MeteredViewSet
from inference.queries.representations import CLOSE_AND_NOTE
from inference.routes.embeddings.bound import bound_embeddings
from inference.routes.embeddings.capabilities import Capabilities
from inference.routes.embeddings.check import Valid, check
from inference.routes.embeddings.fetching import fetch_images
from inference.routes.embeddings.reference import describe_embeddings
from inference.rules.json_body import JsonBody

EMBEDDINGS: MeteredRoute[JsonBody, Valid] = MeteredRoute(
    name=Route.EMBEDDINGS,
    id_prefix="emb",
    read=read_json_with_images,
    check=partial(check, vendors=stated(Route.EMBEDDINGS, "capabilities", Capabilities)),
    bound=bound_embeddings,
    prepare=fetch_images,
    endpoints=ENDPOINTS[Route.EMBEDDINGS],
    close_function=CLOSE_AND_NOTE,
)


class EmbeddingViewSet(MeteredViewSet):
    """Embeddings of texts, token lists or images."""

    route = EMBEDDINGS

    @describe_embeddings
    @refuses(ManifestMismatch)
    @requires_model
    async def create(self, request: LeanRequest) -> LeanAnswer:
        """Embed the input."""
        return await self.serve(request)
