"""POST /v1/images/generations."""

from gateway.core.api.access import requires_model
from gateway.core.http.lean import LeanAnswer, LeanRequest
from inference.metering.viewset import MeteredViewSet
from inference.routes.images.reference import describe_images
from inference.routes.images.route import IMAGES


class ImageViewSet(MeteredViewSet):
    """Images from a prompt, as JSON or as server-sent events."""

    route = IMAGES

    @describe_images
    @requires_model
    async def create(self, request: LeanRequest) -> LeanAnswer:
        """Make images."""
        return await self.serve(request)
