"""`POST /v1/chat/completions`: the route's declaration for the metering core, and its view."""

from collections.abc import Mapping
from dataclasses import replace

from gateway.core.api.access import requires_model
from gateway.core.api.schema import refuses
from gateway.core.contract.aliases import Route
from gateway.core.contract.errors import ImageRejected, RateLimited
from gateway.core.http.lean import LeanAnswer, LeanRequest
from gateway.core.runtime.offload import offload
from inference.adapters import fetched_images
from inference.endpoints import ENDPOINTS
from inference.metering.bodies import read_json_with_images
from inference.metering.route import MeteredRequest, MeteredRoute
from inference.metering.serving import MeteredViewSet
from inference.routes.chat.bound import BoundedChat, bound_chat, charge_of
from inference.routes.chat.images import ImageAt, with_urls
from inference.routes.chat.reference import describe_chat
from inference.routes.chat.request import read_request
from inference.rules.images import CHAT_TYPES, read_image


async def fetch_images(http: MeteredRequest, request: BoundedChat) -> BoundedChat:
    """Replace image URLs with the fetched data. Raises ImageRejected naming the member, or NotReady."""
    fetched = await fetched_images.fetch_images(request.params.remote_images, http.take_memory)
    return await offload(_with_images, request, fetched)


def _with_images(request: BoundedChat, fetched: Mapping[ImageAt, bytes]) -> BoundedChat:
    urls = {image: read_image(data, CHAT_TYPES, image.param).url for image, data in fetched.items()}
    return replace(request, body=with_urls(request.body, urls), is_large=True)


CHAT = MeteredRoute(
    name=Route.CHAT_COMPLETIONS,
    id_prefix="chatcmpl",
    read=read_json_with_images,
    check=read_request,
    check_prices=charge_of,
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
