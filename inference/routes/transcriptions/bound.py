"""A transcription with its hold, and its usage."""

import math
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from typing import Any

from billing.rules.quantities import QUANTITY_MAX, MalformedUsage, Quantities
from gateway.core.json.strict import dumps
from inference.interface.answer import EVENT_STREAM_TYPE, Answer, Content
from inference.interface.model import PriceVersion, ServedModel
from inference.interface.request import BoundedRequest, StreamedRequest
from inference.routes.transcriptions.request import TranscriptionRequest
from inference.routes.transcriptions.stream import TranscriptFormat, TranscriptMeter, whole_as_events
from inference.rules.audio.length import AudioLength
from inference.rules.json_body import JSON_TYPE
from inference.rules.terms import within

TEXT_TYPE = "text/plain; charset=utf-8"
"""The vendor's media type of a response in text, srt and vtt."""


@dataclass(frozen=True)
class BoundedTranscription(BoundedRequest):
    """A bounded form. Its file is kept open for as long as the call needs it.

    Until its file is measured, it holds the least that a file can cost, which the ledger tries before it is measured.
    """

    hold_microusd: int
    params: TranscriptionRequest
    price: PriceVersion
    max_cost_microusd: int

    @property
    def bounds(self) -> Mapping[str, int]:
        return {"seconds": self.params.seconds}

    @property
    def needs_preparing(self) -> bool:
        """Return whether the file is not measured yet."""
        return self.params.length is None

    def measured(self, length: AudioLength) -> "BoundedTranscription":
        """Return it with the file's length and its hold. Raises MaxCostExceeded with what the request needs."""
        params = replace(self.params, length=length)
        hold = within(_cost(params, self.price), self.max_cost_microusd)
        return replace(self, params=params, hold_microusd=hold)

    @property
    def members(self) -> Container[str]:
        """Return the names of the fields."""
        return ["file", "model", *(name for name, _ in self.params.fields)]

    def begin(self) -> None:
        self.params.file.keep()

    def end(self) -> None:
        self.params.file.release()

    def usage(self, answer: Answer) -> Quantities:
        """Read the upstream's seconds, or use those measured from the file."""
        duration = answer.body.get("duration") if isinstance(answer.body, Mapping) else None
        return self.read_usage(answer.usage, duration)

    def read_usage(self, usage: Mapping[str, Any] | None, duration: Any = None) -> Quantities:
        """Return the seconds of a usage of type `duration`, of the response's own `duration`, otherwise of the file.
        Tokens, which some models report instead, have no price here."""
        reported = usage or {}
        stated = reported.get("seconds") if reported.get("type") == "duration" or "seconds" in reported else duration
        if reported.get("type") == "duration" and stated is None:
            raise MalformedUsage("usage states no seconds")
        return Quantities(seconds=self.params.seconds if stated is None else _whole_seconds(stated))

    def content(self, answer: Answer, *, usage_is_known: bool = True) -> Content:
        if self.params.is_text:
            return Content(TEXT_TYPE, answer.body.encode())
        return Content(JSON_TYPE, dumps(answer.body))


class StreamedTranscription(BoundedTranscription, StreamedRequest):
    """A transcription with a streamed response."""

    def content(self, answer: Answer, *, usage_is_known: bool = True) -> Content:
        """Render the complete response of an upstream that did not stream as events."""
        return Content(EVENT_STREAM_TYPE, whole_as_events(answer.body))

    def meter(self) -> TranscriptMeter:
        return TranscriptMeter(self.read_usage)

    def stream_format(self, public_model: str, public_id: str, meter: TranscriptMeter) -> TranscriptFormat:
        return TranscriptFormat(meter)


def bound_transcription(
    params: TranscriptionRequest, model: ServedModel, price: PriceVersion, max_cost_microusd: int
) -> BoundedTranscription:
    """Return the request with the least hold; `measured` computes its own. The caller's maximum is checked then, with
    what the request needs."""
    least = min(_cost(params, price), max_cost_microusd)
    make = StreamedTranscription if params.streams else BoundedTranscription
    return make(least, params, price, max_cost_microusd)


def _cost(params: TranscriptionRequest, price: PriceVersion) -> int:
    """Return the cost of the file's seconds, rounded up."""
    return price.worst_case.cost_microusd(Quantities(seconds=params.seconds))


def _whole_seconds(stated: Any) -> int:
    """Round a length up to whole seconds. A numeric string is accepted, because older upstreams send one."""
    try:
        seconds = float(stated) if isinstance(stated, str) else stated
    except ValueError as error:
        raise MalformedUsage("seconds is not a number") from error
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds <= QUANTITY_MAX:
        raise MalformedUsage("seconds is not a length")
    return math.ceil(seconds)
