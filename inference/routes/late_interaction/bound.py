"""A request for late interaction with its hold."""

from billing.rules.cost import with_charged_items
from gateway.core.contract.values import value_class
from inference.interface.model import PriceVersion, ServedModel
from inference.routes.late_interaction.request import LateInteractionRequest
from inference.rules.representation import BoundedRepresentation
from inference.rules.terms import within


@value_class(frozen=True)
class BoundedLateInteraction(BoundedRepresentation):
    """A bounded request for late interaction."""

    params: LateInteractionRequest


def bound_late_interaction(
    params: LateInteractionRequest, model: ServedModel, price: PriceVersion, max_cost_microusd: int
) -> BoundedLateInteraction:
    """Compute the hold. Raises MaxCostExceeded with what the request needs."""
    bound = with_charged_items(params.bound, price.prices)
    hold = within(price.worst_case.cost_microusd(bound), max_cost_microusd)
    return BoundedLateInteraction(
        hold, params.body, params.is_large, params.representation, None, bound, price.prices, params
    )
