"""A request for images with its hold, and the usage of its response."""

from collections.abc import Mapping
from typing import Any

from billing.rules.prices import PriceList
from billing.rules.quantities import Quantities
from gateway.core.contract.values import value_class
from inference.interface.answer import EVENT_STREAM_TYPE, Answer, Content
from inference.interface.model import PriceVersion, ServedModel
from inference.interface.request import StreamedRequest
from inference.routes.images.kinds import kind_of, most_expensive
from inference.routes.images.request import ImageRequest
from inference.routes.images.stream import ImageFormat, ImageMeter, events_of
from inference.rules.json_body import BoundedJson
from inference.rules.terms import within
from inference.rules.usage import MissingUsage, read_part, read_total

IMAGE_TOKENS_MAX = 16_384
"""The maximum output tokens of an image if the alias sets no `max_output_tokens`; the vendor publishes some
thousands."""
PARTIAL_IMAGE_TOKENS = 100
"""The vendor's token count for a partial image."""


@value_class(frozen=True)
class BoundedImages(BoundedJson):
    """A bounded request. `image_tokens` is the maximum of output tokens per image, its partial images included."""

    params: ImageRequest
    prices: PriceList
    image_tokens: int

    @property
    def bounds(self) -> Mapping[str, int]:
        images = self.params.images
        return {
            "images": images,
            "input_tokens": self.params.input_bound,
            "output_tokens": images * self.image_tokens,
        }

    def usage(self, answer: Answer) -> Quantities:
        """Count the response's images, of the kind that it states, and read its tokens if they have a price."""
        return self.quantities(len(answer.body["data"]), answer.body, answer.usage or {})

    def quantities(self, images: int, properties: Mapping[str, Any], usage: Mapping[str, Any]) -> Quantities:
        """Return the quantities of `images` images of the kind that `properties` states, with the vendor's tokens.

        Raises MissingUsage if tokens have a price but no count, or the kind has no price, and MalformedUsage.
        """
        kind = kind_of(self.prices, self.params.kind, properties)
        if self.prices.images and kind not in self.prices.images:
            raise MissingUsage(f"image {kind} has no price")
        read = read_total if self.prices.needs_token_usage else Mapping.get
        return Quantities(
            images=min(images, self.params.images),
            image_kind=kind,
            input_tokens=read(usage, "input_tokens"),
            cached_input_tokens=read_part(usage, "input_tokens_details", "cached_tokens"),
            output_tokens=read(usage, "output_tokens"),
        )


class StreamedImages(BoundedImages, StreamedRequest):
    """A request with a streamed response."""

    def content(self, answer: Answer, *, usage_is_known: bool = True) -> Content:
        """Render the complete response of an upstream that did not stream as events."""
        body = answer.body if usage_is_known else {**answer.body, "usage": None}
        return Content(EVENT_STREAM_TYPE, events_of(body))

    def meter(self) -> ImageMeter:
        return ImageMeter(self)

    def stream_format(self, public_model: str, public_id: str, meter: ImageMeter) -> ImageFormat:
        return ImageFormat(meter)


def bound_images(
    params: ImageRequest, model: ServedModel, price: PriceVersion, max_cost_microusd: int
) -> BoundedImages:
    """Compute the hold: every image at the highest price of its possible sizes and qualities.

    Raises ModelUnavailable naming the member if there is no such price, or MaxCostExceeded with what the request needs.
    """
    image_tokens = (model.max_output_tokens or IMAGE_TOKENS_MAX) + params.partial_images * PARTIAL_IMAGE_TOKENS
    most = Quantities(
        images=params.images,
        image_kind=most_expensive(price.prices, params.kind),
        input_tokens=params.input_bound,
        output_tokens=params.images * image_tokens,
    )
    hold = within(price.worst_case.cost_microusd(most), max_cost_microusd)
    kind = StreamedImages if params.streams else BoundedImages
    return kind(hold, params.body, params.is_large, params, price.prices, image_tokens)
