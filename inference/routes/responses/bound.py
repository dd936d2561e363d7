"""A response request with its hold: its output limit, its usage, and what is stored of it."""

from collections.abc import Mapping
from typing import Any

from billing.rules.prices import PriceList
from billing.rules.quantities import MalformedUsage, Quantities
from gateway.core.contract.values import value_class
from gateway.core.json.strict import dumps
from inference.interface.answer import EVENT_STREAM_TYPE, Answer, Chunk, Content
from inference.interface.model import PriceVersion, ServedModel
from inference.interface.request import StreamedRequest
from inference.routes.responses.events import events_of, render
from inference.routes.responses.progress import Progress
from inference.routes.responses.request import ResponseRequest
from inference.routes.responses.stream import ResponseFormat
from inference.rules.json_body import JSON_TYPE, BoundedJson
from inference.rules.output_limit import fixed_limit, largest_limit
from inference.rules.token_charge import TokenCharge
from inference.rules.token_meter import TokenMeter
from inference.rules.token_usage import read_response
from inference.rules.usage import MissingUsage


@value_class(frozen=True)
class BoundedResponse(BoundedJson):
    """A request with an output limit in its body; `output_tokens` is the maximum of its output. `public_id` is the id that its record
    is bound to, where it is to be stored."""

    params: ResponseRequest
    charge: TokenCharge
    output_tokens: int
    public_id: str | None = None

    @property
    def bounds(self) -> Mapping[str, int]:
        return {"input_tokens": self.params.input_bound, "output_tokens": self.output_tokens}

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

    def content(self, answer: Answer, *, usage_is_known: bool = True) -> Content:
        return Content(JSON_TYPE, dumps(self.client_response(answer.body)))

    def stored(self, answer: Answer) -> Mapping[str, Any]:
        """Return the record of the response as the client receives it, if it is to be stored."""
        return self.stored_of(self.client_response(answer.body))

    def stored_of(self, response: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the record of a response that the client received."""
        return (self.params.recorder and response["store"] and self.params.recorder.record(response)) or {}

    def client_response(self, response: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a finished response for the client: without an insufficient usage, and not marked as stored if it
        cannot be stored."""
        shown = response if self._says_its_usage(response) else {**response, "usage": None}
        recorder = self.params.recorder
        return shown if recorder is None or recorder.record(shown) is not None else {**shown, "store": False}

    def _says_its_usage(self, response: Mapping[str, Any]) -> bool:
        try:
            self.charge.quantities(response.get("usage") or {}, None)
        except MissingUsage:
            return False
        except MalformedUsage:
            pass  # then it is omitted
        return True


class StreamedResponse(BoundedResponse, StreamedRequest):
    """A request with a streamed response."""

    def content(self, answer: Answer, *, usage_is_known: bool = True) -> Content:
        """Render the complete response of an upstream that did not stream as events."""
        events = events_of(self.client_response(answer.body))
        return Content(EVENT_STREAM_TYPE, b"".join(render(event) for event in events))

    def meter(self) -> "ResponseMeter":
        return ResponseMeter(self)

    def stream_format(self, public_model: str, public_id: str, meter: "ResponseMeter") -> ResponseFormat:
        return ResponseFormat(public_model, public_id, meter.progress)


class ResponseMeter(TokenMeter):
    """Counts a stream, and tracks its content."""

    def __init__(self, request: StreamedResponse) -> None:
        super().__init__(request)
        self._bounded = request
        self.progress = Progress(request.params.ours, request.client_response)

    def add(self, chunk: Chunk) -> None:
        super().add(chunk)
        for event in chunk.events:
            self.progress.add(event)

    def stored(self) -> Mapping[str, Any]:
        """Return the record of the response in its last event."""
        return self._bounded.stored_of(self.progress.final) if self.progress.final else {}


def bound_response(
    params: ResponseRequest, model: ServedModel, price: PriceVersion, max_cost_microusd: int
) -> BoundedResponse:
    """Choose the output limit if the client set none, and compute the hold.

    Raises MaxCostExceeded with the minimum that the request needs, or InvalidRequest if what it asks for has no price.
    """
    charge, prompt = charge_of(params, price.prices), Quantities(input_tokens=params.input_bound)
    prices = charge.worst_case(price)
    if params.output_limit is not None:
        limit = fixed_limit(params.output_limit, 1, prompt, prices, max_cost_microusd)
    else:
        limit = largest_limit(model, 1, prompt, prices, max_cost_microusd)
    body = {**params.body, "max_output_tokens": limit.tokens, "service_tier": charge.sent_tier}
    kind = StreamedResponse if params.streams else BoundedResponse
    response_id = params.recorder.response_id if params.recorder else None
    return kind(limit.hold_microusd, body, params.is_large, params, charge, limit.tokens, response_id)


def charge_of(params: ResponseRequest, prices: PriceList) -> TokenCharge:
    """Return how a response is charged. Raises InvalidRequest if its service tier or its caching has no price."""
    return TokenCharge.of(prices, read_response, params.service_tier, params.caching)
