"""A chat request with its hold: its output limit, and its usage."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from billing.rules.prices import PriceList
from billing.rules.quantities import Quantities
from gateway.core.contract.errors import InvalidRequest
from gateway.core.contract.values import value_class
from inference.interface.answer import EVENT_STREAM_TYPE, Answer, Chunk, Content
from inference.interface.model import PriceVersion, ServedModel
from inference.interface.request import StreamedRequest
from inference.routes.chat.request import ChatRequest
from inference.routes.chat.stream import ChatFormat, whole_as_events
from inference.rules.json_body import BoundedJson
from inference.rules.output_limit import fixed_limit, largest_limit
from inference.rules.token_charge import TokenCharge
from inference.rules.token_meter import TokenMeter
from inference.rules.token_usage import read_chat

SPOKEN_MARGIN = 4
"""The factor by which audio may have fewer tokens than estimated, so that its stream is not cut too early."""


@value_class(frozen=True)
class BoundedChat(BoundedJson):
    """A chat request with an output limit in its body. `output_tokens` is the maximum of all choices together."""

    params: ChatRequest
    charge: TokenCharge
    output_tokens: int

    @property
    def bounds(self) -> Mapping[str, int]:
        output_tokens = self.output_tokens + self.params.predicted_tokens * self.params.choices
        return {"input_tokens": self.params.input_bound, "output_tokens": output_tokens}

    @property
    def input_estimate(self) -> int:
        """Return the expected number of input tokens."""
        return self.params.input_estimate

    @property
    def needs_preparing(self) -> bool:
        return bool(self.params.remote_images)

    @property
    def service_tier(self) -> str | None:
        return self.charge.service_tier

    def usage(self, answer: Answer) -> Quantities:
        return self.charge.quantities(answer.usage or {}, answer.body.get("service_tier"))


class StreamedChat(BoundedChat, StreamedRequest):
    """A chat request with a streamed response."""

    def content(self, answer: Answer, *, usage_is_known: bool = True) -> Content:
        """Render the complete response of an upstream that did not stream as events."""
        usage = answer.body.get("usage") if usage_is_known else None
        events = whole_as_events(answer.body, usage, show_usage=self.params.show_usage)
        return Content(EVENT_STREAM_TYPE, events)

    def meter(self) -> "ChatMeter":
        return ChatMeter(self)

    def stream_format(self, public_model: str, public_id: str, meter: "ChatMeter") -> ChatFormat:
        return ChatFormat(public_model, public_id, meter.unfinished)


class ChatMeter(TokenMeter):
    """Counts a stream's text and audio, and tracks which of its choices have ended."""

    def __init__(self, request: BoundedChat) -> None:
        super().__init__(request)
        self._choices = request.params.choices
        self._spoken_tokens = 0
        self._finished: set[int] = set()
        self._ends: tuple[Mapping[str, Any], ...] = ()

    def add(self, chunk: Chunk) -> None:
        super().add(chunk)
        self._spoken_tokens += chunk.audio_tokens
        if self._ends:
            self._finished.update(_finished_in(self._ends))
        self._ends = chunk.events

    def unfinished(self) -> list[int]:
        """List the choices whose end the client has not received. The last chunk may be withheld, so its ends do not
        count."""
        return [index for index in range(self._choices) if index not in self._finished]

    @property
    def is_beyond_limit(self) -> bool:
        certain = self._delivered.tokens_at_least + self._spoken_tokens // SPOKEN_MARGIN
        return certain > self._request.output_tokens

    def delivered(self) -> Quantities:
        most = self._request.output_tokens
        spoken = min(self._spoken_tokens, most)
        return Quantities(
            input_tokens=self._request.input_estimate,
            output_tokens=min(self._delivered.tokens_estimated + spoken, most),
            output_audio_tokens=spoken or None,
            service_tier=self.service_tier,
        )


def bound_chat(params: ChatRequest, model: ServedModel, price: PriceVersion, max_cost_microusd: int) -> BoundedChat:
    """Choose the output limit if the client set none, and compute the hold.

    Raises MaxCostExceeded with the minimum that the request needs, or InvalidRequest if what it asks for has no price.
    """
    if params.speaks and not _prices_speech(price.prices):
        raise InvalidRequest("This model has no price for spoken answers.", param="modalities")
    charge = charge_of(params, price.prices)
    prices = charge.worst_case(price, audio_input=params.has_audio, audio_output=params.speaks)
    prompt = Quantities(input_tokens=params.input_bound, output_tokens=params.predicted_tokens * params.choices)
    body = {**params.body, "service_tier": charge.sent_tier}
    if params.output_limit is not None:
        limit = fixed_limit(params.output_limit, params.choices, prompt, prices, max_cost_microusd)
    else:
        limit = largest_limit(model, params.choices, prompt, prices, max_cost_microusd)
        body = {**body, params.limit_field: limit.tokens}
    kind = StreamedChat if params.streams else BoundedChat
    return kind(limit.hold_microusd, body, params.is_large, params, charge, limit.tokens * params.choices)


def charge_of(params: ChatRequest, prices: PriceList) -> TokenCharge:
    """Return how a chat is charged. Raises InvalidRequest if its service tier or its caching has no price."""
    return TokenCharge.of(prices, read_chat, params.service_tier, params.caching)


def _finished_in(events: Iterable[Mapping[str, Any]]) -> Iterator[int]:
    choices = (choice for event in events for choice in event["choices"])
    return (choice["index"] for choice in choices if choice.get("finish_reason") and type(choice.get("index")) is int)


def _prices_speech(prices: PriceList) -> bool:
    """Return whether spoken tokens have a price, or no tokens have one."""
    return "output_audio_token" in prices.components or not prices.needs_token_usage
