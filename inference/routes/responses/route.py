"""`POST /v1/responses`: the route's declaration for the metering core, and its view."""

from collections.abc import Mapping
from dataclasses import replace

from gateway.core.api.access import requires_model
from gateway.core.api.schema import refuses
from gateway.core.contract.aliases import Route
from gateway.core.contract.errors import ImageRejected, NotFound, RateLimited
from gateway.core.database import BatchFunction
from gateway.core.http.lean import LeanAnswer, LeanRequest
from gateway.core.runtime.offload import offload
from inference.adapters import fetched_images
from inference.endpoints import ENDPOINTS
from inference.metering.bodies import read_json_with_images
from inference.metering.route import MeteredRequest, MeteredRoute
from inference.metering.serving import MeteredViewSet
from inference.routes.responses.bound import BoundedResponse, bound_response, charge_of
from inference.routes.responses.check import check
from inference.routes.responses.images import ImageAt, with_urls
from inference.routes.responses.record import ID_PREFIX
from inference.routes.responses.reference import describe_responses
from inference.routes.responses.request import input_of
from inference.rules.images import CHAT_TYPES, read_image

CLOSE_AND_STORE = BatchFunction(0, "inference_close_responses")


async def fetch_images(http: MeteredRequest, request: BoundedResponse) -> BoundedResponse:
    """Replace image URLs with the fetched data. Raises ImageRejected naming the member, or NotReady."""
    fetched = await fetched_images.fetch_images(request.params.remote_images, http.take_memory)
    return await offload(_with_images, request, fetched)


def _with_images(request: BoundedResponse, fetched: Mapping[ImageAt, bytes]) -> BoundedResponse:
    urls = {image: read_image(data, CHAT_TYPES, image.param).url for image, data in fetched.items()}
    items = with_urls(request.params.items, urls)
    return replace(request, body={**request.body, "input": input_of(items)}, is_large=True)


RESPONSES = MeteredRoute(
    name=Route.RESPONSES,
    id_prefix=ID_PREFIX,
    read=read_json_with_images,
    check=check,
    check_prices=charge_of,
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
