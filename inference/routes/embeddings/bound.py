"""An embedding request, or one for representations, with its hold and its usage."""

from collections.abc import Mapping
from dataclasses import replace

from billing.rules.cost import with_charged_items
from billing.rules.prices import PriceError, PriceList
from billing.rules.quantities import QUANTITY_MAX, Quantities
from gateway.core.contract.values import value_class
from inference.interface.answer import Answer
from inference.interface.model import PriceVersion, ServedModel
from inference.routes.embeddings.items import images_of
from inference.routes.embeddings.represented_request import RepresentedRequest
from inference.routes.embeddings.request import EmbeddingRequest
from inference.rules.json_body import BoundedJson
from inference.rules.representation import BoundedRepresentation
from inference.rules.terms import within
from inference.rules.usage import read_total

IMAGE_COMPONENTS = frozenset({"input_item", "input_token", "request"})
"""Any of these components prices an image; its bytes are not charged."""


@value_class(frozen=True)
class BoundedRepresented(BoundedRepresentation):
    """A bounded request for representations."""

    params: RepresentedRequest

    @property
    def needs_preparing(self) -> bool:
        return any(image.is_remote for image in images_of(self.params.inputs))


def bound_represented(params: RepresentedRequest, price: PriceVersion, max_cost_microusd: int) -> BoundedRepresented:
    """Compute the hold. Raises MaxCostExceeded with what the request needs, or PriceError if images have no price."""
    bound = _with_images(params, price.prices)
    hold = within(price.worst_case.cost_microusd(bound), max_cost_microusd)
    return BoundedRepresented(
        hold, params.body, params.is_large, params.representation, params.input_type, bound, price.prices, params
    )


def _with_images(params: RepresentedRequest, prices: PriceList) -> Quantities:
    count = sum(1 for _ in images_of(params.inputs))
    bound = with_charged_items(params.bound, prices, count)
    if not count:
        return bound
    if not IMAGE_COMPONENTS & prices.components:
        raise PriceError("an image has no price: neither input_item nor input_token")
    if params.image_tokens is None:
        if prices.needs_token_usage:
            raise PriceError("an image's tokens cannot be bounded without the alias's context_tokens")
        return bound
    tokens = (bound.input_tokens or 0) + count * params.image_tokens
    return replace(bound, input_tokens=min(tokens, QUANTITY_MAX))


@value_class(frozen=True)
class BoundedEmbeddings(BoundedJson):
    """A bounded embedding request."""

    params: EmbeddingRequest
    prices: PriceList

    @property
    def bounds(self) -> Mapping[str, int]:
        return self.params.bound.counts()

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
    hold = within(price.worst_case.cost_microusd(params.bound), max_cost_microusd)
    return BoundedEmbeddings(hold, params.body, params.is_large, params, price.prices)
