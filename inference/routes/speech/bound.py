"""A request for speech with its hold."""

from collections.abc import Mapping

from billing.rules.quantities import Quantities
from gateway.core.contract.values import value_class
from inference.interface.answer import EVENT_STREAM_TYPE, Answer, Content
from inference.interface.model import PriceVersion, ServedModel
from inference.interface.request import StreamedRequest
from inference.routes.speech.request import MEDIA_TYPES, SpeechRequest
from inference.routes.speech.stream import AudioFormat, SpeechEventFormat, SpeechMeter, whole_as_events
from inference.rules.json_body import BoundedJson
from inference.rules.terms import within


@value_class(frozen=True)
class BoundedSpeech(BoundedJson, StreamedRequest):
    """A bounded request. The characters are known in advance, so its hold equals its charge."""

    params: SpeechRequest

    @property
    def bounds(self) -> Mapping[str, int]:
        return {"input_characters": self.params.characters}

    @property
    def quantities(self) -> Quantities:
        """Return its usage."""
        return Quantities(input_characters=self.params.characters)

    def usage(self, answer: Answer) -> Quantities:
        return self.quantities

    def content(self, answer: Answer, *, usage_is_known: bool = True) -> Content:
        """Render the audio of an upstream that did not stream it as events."""
        if self.params.as_events:
            return Content(EVENT_STREAM_TYPE, whole_as_events(answer.body))
        return Content(MEDIA_TYPES[self.params.audio_format][0], answer.body)

    def meter(self) -> SpeechMeter:
        return SpeechMeter(self.quantities)

    def stream_format(self, public_model: str, public_id: str, meter: SpeechMeter) -> AudioFormat | SpeechEventFormat:
        if self.params.as_events:
            return SpeechEventFormat(meter)
        return AudioFormat(MEDIA_TYPES[self.params.audio_format][0])


def bound_speech(
    params: SpeechRequest, model: ServedModel, price: PriceVersion, max_cost_microusd: int
) -> BoundedSpeech:
    """Compute the hold. Raises MaxCostExceeded with what the request needs."""
    most = Quantities(input_characters=params.characters)
    hold = within(price.worst_case.cost_microusd(most), max_cost_microusd)
    return BoundedSpeech(hold, params.body, params.is_large, params)
