"""POST /v1/audio/speech."""

from gateway.core.api.access import requires_model
from gateway.core.http.lean import LeanAnswer, LeanRequest
from inference.metering.viewset import MeteredViewSet
from inference.routes.speech.reference import describe_speech
from inference.routes.speech.route import SPEECH


class SpeechViewSet(MeteredViewSet):
    """Spoken text, as bytes or as server-sent events."""

    route = SPEECH

    @describe_speech
    @requires_model
    async def create(self, request: LeanRequest) -> LeanAnswer:
        """Turn text into speech."""
        return await self.serve(request)
