"""POST /v1/responses."""

from gateway.core.api.access import requires_model
from gateway.core.api.schema import refuses
from gateway.core.contract.errors import ImageRejected, NotFound, RateLimited
from gateway.core.http.lean import LeanAnswer, LeanRequest
from inference.metering.viewset import MeteredViewSet
from inference.routes.responses.reference import describe_responses
from inference.routes.responses.route import RESPONSES


class ResponseViewSet(MeteredViewSet):
    """Responses, as JSON or as server-sent events."""

    route = RESPONSES

    @describe_responses
    @refuses(ImageRejected, NotFound, RateLimited)
    @requires_model
    async def create(self, request: LeanRequest) -> LeanAnswer:
        """Answer with text, structured output or tool calls, and store the response unless asked not to."""
        return await self.serve(request)
