"""A rerank request with its hold and its usage."""

from collections.abc import Mapping
from dataclasses import replace

from billing.rules.cost import with_charged_items
from billing.rules.prices import PriceList
from billing.rules.quantities import Quantities
from gateway.core.contract.values import value_class
from inference.interface.answer import Answer
from inference.interface.model import PriceVersion, ServedModel
from inference.routes.rerank.request import RerankRequest
from inference.rules.json_body import BoundedJson
from inference.rules.terms import within
from inference.rules.usage import read_total


@value_class(frozen=True)
class BoundedRerank(BoundedJson):
    """A bounded rerank request."""

    params: RerankRequest
    prices: PriceList

    @property
    def bounds(self) -> Mapping[str, int]:
        return self.params.bound.counts()

    def usage(self, answer: Answer) -> Quantities:
        """Return the gateway's own count of bytes and documents, and the provider's `total_tokens` if it states
        them."""
        usage = answer.usage or {}
        tokens = read_total(usage, "total_tokens") if self.prices.needs_token_usage else usage.get("total_tokens")
        return replace(self.params.bound, input_tokens=tokens)


def bound_rerank(
    params: RerankRequest, model: ServedModel, price: PriceVersion, max_cost_microusd: int
) -> BoundedRerank:
    """Compute the hold. Raises MaxCostExceeded with what the request needs."""
    params = replace(params, bound=with_charged_items(params.bound, price.prices))
    hold = within(price.worst_case.cost_microusd(params.bound), max_cost_microusd)
    return BoundedRerank(hold, params.body, params.is_large, params, price.prices)
