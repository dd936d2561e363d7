"""`POST /v1/chat/completions`: the route's declaration for the metering core, and its view."""

from gateway.core.api.access import requires_model
from gateway.core.api.schema import refuses
from gateway.core.contract.aliases import Route
from gateway.core.contract.errors import ImageRejected, RateLimited
from gateway.core.http.lean import LeanAnswer, LeanRequest
from inference.endpoints import ENDPOINTS
from inference.metering.json_route import read_json_with_images
from inference.metering.route import MeteredRoute
from inference.metering.serving import MeteredViewSet
from inference.routes.chat.bound import bound_chat
from inference.routes.chat.fetching import fetch_images
from inference.routes.chat.reference import describe_chat
from inference.routes.chat.request import read_request

CHAT = MeteredRoute(
    name=Route.CHAT_COMPLETIONS,
    id_prefix="chatcmpl",
    read=read_json_with_images,
    check=read_request,
    bound=bound_chat,
    prepare=fetch_images,
    endpoints=ENDPOINTS[Route.CHAT_COMPLETIONS],
)


class ChatCompletionViewSet(MeteredViewSet):
    """Chat completions, as JSON or as server-sent events."""

    route = CHAT

    @describe_chat
    @refuses(ImageRejected, RateLimited)
    @requires_model
    async def create(self, request: LeanRequest) -> LeanAnswer:
        """Create a chat completion."""
        return await self.serve(request)
