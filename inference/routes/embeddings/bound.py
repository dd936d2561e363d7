"""An embedding request with its hold, and its usage."""

from dataclasses import replace

from billing.rules.prices import PriceList, cost_microusd, with_charged_items
from billing.rules.quantities import Quantities
from gateway.core.contract.values import value_class
from inference.interface.answer import Answer
from inference.interface.model import PriceVersion, ServedModel
from inference.routes.embeddings.represented_bound import BoundedRepresented, bound_represented
from inference.routes.embeddings.represented_request import RepresentedRequest
from inference.routes.embeddings.request import EmbeddingRequest
from inference.rules.json_body import BoundedJson
from inference.rules.terms import within
from inference.rules.usage import read_total


@value_class(frozen=True)
class BoundedEmbeddings(BoundedJson):
    """A bounded embedding request."""

    params: EmbeddingRequest
    prices: PriceList

    @property
    def needs_preparing(self) -> bool:
        """Return False: there is nothing to fetch."""
        return False

    def usage(self, answer: Answer) -> Quantities:
        """Read `prompt_tokens`; the gateway itself counts bytes and items."""
        usage = answer.usage or {}
        tokens = read_total(usage, "prompt_tokens") if self.prices.needs_token_usage else usage.get("prompt_tokens")
        return replace(self.params.bound, input_tokens=tokens)


def bound_embeddings(
    params: EmbeddingRequest | RepresentedRequest, model: ServedModel, price: PriceVersion, max_cost_microusd: int
) -> BoundedEmbeddings | BoundedRepresented:
    """Compute the hold. Raises MaxCostExceeded with what the request needs, or PriceError if an image has no price."""
    if isinstance(params, RepresentedRequest):
        return bound_represented(params, price, max_cost_microusd)
    params = replace(params, bound=with_charged_items(params.bound, price.prices))
    hold = within(cost_microusd(params.bound, price.worst_case), max_cost_microusd)
    return BoundedEmbeddings(hold, params.body, params.is_large, params, price.prices)
