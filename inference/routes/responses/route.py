"""`POST /v1/responses`: the route's declaration for the metering core, and its view."""

from gateway.core.api.access import requires_model
from gateway.core.api.schema import refuses
from gateway.core.contract.aliases import Route
from gateway.core.contract.errors import ImageRejected, NotFound, RateLimited
from gateway.core.database import BatchFunction
from gateway.core.http.lean import LeanAnswer, LeanRequest
from inference.endpoints import ENDPOINTS
from inference.metering.json_route import read_json_with_images
from inference.metering.route import MeteredRoute
from inference.metering.serving import MeteredViewSet
from inference.routes.responses.bound import bound_response
from inference.routes.responses.check import check
from inference.routes.responses.fetching import fetch_images
from inference.routes.responses.record import ID_PREFIX
from inference.routes.responses.reference import describe_responses

CLOSE_AND_STORE = BatchFunction(0, "inference_close_responses")

RESPONSES = MeteredRoute(
    name=Route.RESPONSES,
    id_prefix=ID_PREFIX,
    read=read_json_with_images,
    check=check,
    bound=bound_response,
    prepare=fetch_images,
    endpoints=ENDPOINTS[Route.RESPONSES],
    close_function=CLOSE_AND_STORE,
)


class ResponseViewSet(MeteredViewSet):
    """Responses, as JSON or as server-sent events."""

    route = RESPONSES

    @describe_responses
    @refuses(ImageRejected, NotFound, RateLimited)
    @requires_model
    async def create(self, request: LeanRequest) -> LeanAnswer:
        """Answer with text, structured output or tool calls, and store the response unless asked not to."""
        return await self.serve(request)
