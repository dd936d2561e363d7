"""Declares the chat route to the metering core."""

from gateway.core.contract.aliases import Route
from inference.endpoints import ENDPOINTS
from inference.metering.json_route import read_json_with_images
from inference.metering.route import MeteredRoute
from inference.routes.chat.bound import bound_chat
from inference.routes.chat.fetching import fetch_images
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
