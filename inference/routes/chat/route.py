"""What chat completions tell the metering core of themselves."""

from typing import Any, ClassVar

from gateway.contract.aliases import Route
from inference.metering.json_route import JsonRoute
from inference.routes.chat.bound import BoundedChat, bound_chat
from inference.routes.chat.demo.endpoint import DemoChat
from inference.routes.chat.openai.endpoint import OpenAIChat
from inference.routes.chat.request import ChatRequest, read_request
from inference.rules.json_body import JsonBody
from inference.rules.model import PriceVersion, ServedModel
from inference.rules.upstream import Endpoint


class ChatRoute(JsonRoute[ChatRequest]):
    """Metered by tokens in and out."""

    name = Route.CHAT_COMPLETIONS
    id_prefix = "chatcmpl"
    endpoints: ClassVar[dict[str, Endpoint[Any]]] = {"openai": OpenAIChat(), "demo": DemoChat()}

    def check(self, body: JsonBody, model: ServedModel) -> ChatRequest:
        """Validate a chat request, or raise InvalidRequest naming the member at fault."""
        return read_request(body, model)

    def bound(
        self, request: ChatRequest, model: ServedModel, price: PriceVersion, max_cost_microusd: int
    ) -> BoundedChat:
        """Choose the output limit where the client set none, and compute the hold."""
        return bound_chat(request, model, price, max_cost_microusd)
