"""What embeddings tell the metering core of themselves."""

from typing import Any, ClassVar

from gateway.contract.aliases import Route
from inference.metering.json_route import JsonRoute
from inference.routes.embeddings.bound import BoundedEmbeddings
from inference.routes.embeddings.demo import DemoEmbeddings
from inference.routes.embeddings.openai import OpenAIEmbeddings
from inference.routes.embeddings.request import EmbeddingRequest, read_request
from inference.rules.json_body import JsonBody
from inference.rules.model import PriceVersion, ServedModel
from inference.rules.upstream import Endpoint


class EmbeddingRoute(JsonRoute[EmbeddingRequest]):
    """Metered by input tokens, by kilobytes of input, by item or by request, as the alias's price says."""

    name = Route.EMBEDDINGS
    id_prefix = "emb"
    endpoints: ClassVar[dict[str, Endpoint[Any]]] = {"openai": OpenAIEmbeddings(), "demo": DemoEmbeddings()}

    def check(self, body: JsonBody, model: ServedModel) -> EmbeddingRequest:
        """Validate an embedding request, or raise InvalidRequest naming the member at fault."""
        return read_request(body)

    def bound(
        self, request: EmbeddingRequest, model: ServedModel, price: PriceVersion, max_cost_microusd: int
    ) -> BoundedEmbeddings:
        """Compute the hold."""
        return BoundedEmbeddings.of(request, price, max_cost_microusd)
