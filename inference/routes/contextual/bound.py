"""A request for contextual embeddings with its hold."""

from billing.rules.cost import with_charged_items
from gateway.core.contract.values import value_class
from inference.interface.model import PriceVersion, ServedModel
from inference.routes.contextual.request import ContextualRequest
from inference.rules.representation import BoundedRepresentation
from inference.rules.terms import within


@value_class(frozen=True)
class BoundedContextual(BoundedRepresentation):
    """A bounded request for contextual embeddings."""

    params: ContextualRequest


def bound_contextual(
    params: ContextualRequest, model: ServedModel, price: PriceVersion, max_cost_microusd: int
) -> BoundedContextual:
    """Compute the hold. Raises MaxCostExceeded with what the request needs."""
    bound = with_charged_items(params.bound, price.prices)
    hold = within(price.worst_case.cost_microusd(bound), max_cost_microusd)
    return BoundedContextual(
        hold, params.body, params.is_large, params.representation, params.input_type, bound, price.prices, params
    )
