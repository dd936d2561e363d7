"""A Messages request with its hold: its output limit, and its usage."""

from collections.abc import Mapping

from billing.rules.prices import PriceList
from billing.rules.quantities import MalformedUsage, Quantities
from billing.rules.worst_case import WorstCase
from gateway.core.contract.errors import InvalidRequest
from gateway.core.contract.values import value_class
from inference.interface.answer import EVENT_STREAM_TYPE, Answer, Chunk, Content
from inference.interface.model import PriceVersion, ServedModel
from inference.interface.request import StreamedRequest
from inference.routes.messages.events import events_of, render
from inference.routes.messages.request import DEFAULT_TIER, THINKING_MIN_TOKENS, MessageRequest
from inference.routes.messages.stream import MessageFormat, MessageProgress
from inference.rules.json_body import BoundedJson
from inference.rules.output_limit import OutputLimit, fixed_limit, largest_limit
from inference.rules.service_tiers import requested_tier
from inference.rules.token_charge import TokenCharge
from inference.rules.token_meter import TokenMeter
from inference.rules.token_usage import read_message
from inference.rules.usage import MissingUsage


@value_class(frozen=True)
class BoundedMessage(BoundedJson):
    """A request with an output limit in its body; `output_tokens` is the maximum of its output."""

    params: MessageRequest
    charge: TokenCharge
    output_tokens: int

    @property
    def bounds(self) -> Mapping[str, int]:
        return {"input_tokens": self.params.input_bound, "output_tokens": self.output_tokens}

    @property
    def input_estimate(self) -> int:
        """Return the expected number of input tokens."""
        return self.params.input_estimate

    @property
    def needs_preparing(self) -> bool:
        return bool(self.params.remote_images or self.params.documents)

    @property
    def service_tier(self) -> str | None:
        return self.charge.service_tier

    def usage(self, answer: Answer) -> Quantities:
        return self.charge.quantities(answer.usage or {}, None)


class StreamedMessage(BoundedMessage, StreamedRequest):
    """A request with a streamed answer."""

    def content(self, answer: Answer, *, usage_is_known: bool = True) -> Content:
        """Render the complete answer of an upstream that did not stream as events."""
        body = answer.body if usage_is_known else {**answer.body, "usage": None}
        return Content(EVENT_STREAM_TYPE, b"".join(map(render, events_of(body))))

    def meter(self) -> "MessageMeter":
        return MessageMeter(self)

    def stream_format(self, public_model: str, public_id: str, meter: "MessageMeter") -> MessageFormat:
        return MessageFormat(meter.progress, meter.usage_delivered)


class MessageMeter(TokenMeter):
    """Counts a stream, and tracks its blocks. The input of a stream that is cut is known from its beginning, if its upstream counts
    it there."""

    def __init__(self, request: StreamedMessage) -> None:
        super().__init__(request)
        self._bounded = request
        self.progress = MessageProgress()

    def add(self, chunk: Chunk) -> None:
        super().add(chunk)
        for event in chunk.events:
            self.progress.add(event)

    def delivered(self) -> Quantities:
        """Estimate the usage: the input that the upstream reported at the beginning, and the delivered output."""
        estimate = super().delivered()
        begun = self.progress.usage_at_start
        try:
            known = self._bounded.charge.quantities({**begun, "output_tokens": estimate.output_tokens}, None)
        except (MalformedUsage, MissingUsage):
            return estimate
        return known if known.input_tokens else estimate  # upstreams that count at the end begin with 0

    def usage_delivered(self) -> Mapping[str, int]:
        """Return what was delivered as the vendor's counts."""
        used = self.delivered()
        read, written = used.cached_input_tokens or 0, used.cache_write_tokens or 0
        return {
            "input_tokens": (used.input_tokens or 0) - read - written,
            "cache_creation_input_tokens": written,
            "cache_read_input_tokens": read,
            "output_tokens": used.output_tokens or 0,
        }


def bound_message(
    params: MessageRequest, model: ServedModel, price: PriceVersion, max_cost_microusd: int
) -> BoundedMessage:
    """Lower the output limit to the model's and to what the maximum covers, and compute the hold.

    Raises MaxCostExceeded with the minimum that the request needs, or InvalidRequest if it asks for what has no price.
    """
    charge = charge_of(params, price.prices)
    prices = charge.worst_case(price)
    prompt = Quantities(input_tokens=params.input_bound)
    limit = largest_limit(model, 1, prompt, prices, max_cost_microusd, wished=params.max_tokens)
    body = {**params.body, "max_tokens": limit.tokens, "service_tier": charge.service_tier or DEFAULT_TIER}
    if params.thinking_tokens is not None:
        limit = _with_thinking(limit, prompt, prices, max_cost_microusd)
        budget = min(params.thinking_tokens, limit.tokens - 1)
        body["thinking"] = {**params.body["thinking"], "budget_tokens": budget}
    kind = StreamedMessage if params.streams else BoundedMessage
    return kind(limit.hold_microusd, body, params.is_large, params, charge, limit.tokens)


def _with_thinking(limit: OutputLimit, prompt: Quantities, prices: WorstCase, max_cost_microusd: int) -> OutputLimit:
    """Return the limit if it leaves the vendor's smallest budget and a token more."""
    if limit.tokens > THINKING_MIN_TOKENS:
        return limit
    fixed_limit(THINKING_MIN_TOKENS + 1, 1, prompt, prices, max_cost_microusd)
    raise InvalidRequest("The model's output limit is too small for thinking.", param="thinking.budget_tokens")


def charge_of(params: MessageRequest, prices: PriceList) -> TokenCharge:
    """Return how a message is charged. What is written to a cache without a price of its own is charged as plain input.
    Raises InvalidRequest if its service tier has no price."""
    return TokenCharge(prices, read_message, requested_tier(params.service_tier, prices), params.caching)
