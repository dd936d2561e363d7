"""`POST /v1/images/generations`: the route's declaration for the metering core, and its view."""

from gateway.core.api.access import requires_model
from gateway.core.contract.aliases import Route
from gateway.core.http.lean import LeanAnswer, LeanRequest
from inference.endpoints import ENDPOINTS
from inference.metering.bodies import read_json
from inference.metering.route import MeteredRoute
from inference.metering.serving import MeteredViewSet
from inference.routes.images.bound import bound_images
from inference.routes.images.reference import describe_images
from inference.routes.images.request import read_request

IMAGES = MeteredRoute(
    name=Route.IMAGES,
    id_prefix="img",
    read=read_json,
    check=read_request,
    bound=bound_images,
    endpoints=ENDPOINTS[Route.IMAGES],
)


class ImageViewSet(MeteredViewSet):
    """Images from a prompt, as JSON or as server-sent events."""

    route = IMAGES

    @describe_images
    @requires_model
    async def create(self, request: LeanRequest) -> LeanAnswer:
        """Make images."""
        return await self.serve(request)
