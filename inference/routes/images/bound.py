"""A request for images with its hold, and how its answer is counted."""

from collections.abc import Mapping
from typing import Any

from billing.rules.prices import PriceBook, cost_microusd
from billing.rules.quantities import Quantities
from gateway.core.contract.values import value_class
from inference.routes.images.events import events_of
from inference.routes.images.kinds import dearest, kind_of
from inference.routes.images.meter import ImageMeter
from inference.routes.images.request import ImageRequest
from inference.routes.images.stream import ImageFormat
from inference.rules.answer import EVENT_STREAM_TYPE, Answer, Content
from inference.rules.json_body import BoundedJson
from inference.rules.model import PriceVersion, ServedModel
from inference.rules.request import StreamedRequest
from inference.rules.terms import within
from inference.rules.usage import MissingUsage, read_part, read_total

IMAGE_TOKENS_MAX = 16_384
"""The most output tokens of an image where the alias sets no `max_output_tokens`; the vendor publishes some thousands."""
PARTIAL_IMAGE_TOKENS = 100
"""What the vendor counts for a partial image."""


@value_class(frozen=True)
class BoundedImages(BoundedJson):
    """A request as it is sent. `image_tokens` is the most output tokens of one image, its partial images included."""

    asked: ImageRequest
    prices: PriceBook
    image_tokens: int

    def usage(self, answer: Answer) -> Quantities:
        """Count the answer's images, of the kind that it states, and read its tokens where they have a price."""
        return self.quantities(len(answer.body["data"]), answer.body, answer.usage or {})

    def quantities(self, images: int, told: Mapping[str, Any], usage: Mapping[str, Any]) -> Quantities:
        """Count so many images of the kind that is `told`, and the vendor's tokens.

        Raises MissingUsage where tokens have a price and no count, or the kind has no price, and MalformedUsage.
        """
        kind = kind_of(self.prices, self.asked.kind, told)
        if self.prices.images and kind not in self.prices.images:
            raise MissingUsage(f"image {kind} has no price")
        read = read_total if self.prices.needs_token_usage else Mapping.get
        return Quantities(
            images=min(images, self.asked.images),
            image_kind=kind,
            input_tokens=read(usage, "input_tokens"),
            cached_input_tokens=read_part(usage, "input_tokens_details", "cached_tokens"),
            output_tokens=read(usage, "output_tokens"),
        )


class StreamedImages(BoundedImages, StreamedRequest):
    """A request that is answered with a stream."""

    def content(self, answer: Answer, *, usage_is_known: bool = True) -> Content:
        """Render the whole answer of an upstream that did not stream as events."""
        told = answer.body if usage_is_known else {**answer.body, "usage": None}
        return Content(EVENT_STREAM_TYPE, events_of(told))

    def meter(self) -> ImageMeter:
        """Begin to count."""
        return ImageMeter(self)

    def stream_format(self, public_model: str, public_id: str, meter: ImageMeter) -> ImageFormat:
        """Return the layout of the stream that the meter sees."""
        return ImageFormat(meter)


def bound_images(asked: ImageRequest, model: ServedModel, price: PriceVersion, max_cost_microusd: int) -> BoundedImages:
    """Compute the hold: every image at the dearest size and quality that it may turn out to have.

    Raises ModelUnavailable naming the member where that has no price, or MaxCostExceeded with what the request needs.
    """
    image_tokens = (model.max_output_tokens or IMAGE_TOKENS_MAX) + asked.partial_images * PARTIAL_IMAGE_TOKENS
    most = Quantities(
        images=asked.images,
        image_kind=dearest(price.prices, asked.kind),
        input_tokens=asked.input_bound,
        output_tokens=asked.images * image_tokens,
    )
    hold = within(cost_microusd(most, price.worst_case), max_cost_microusd)
    kind = StreamedImages if asked.streams else BoundedImages
    return kind(hold, asked.body, asked.is_large, asked, price.prices, image_tokens)
