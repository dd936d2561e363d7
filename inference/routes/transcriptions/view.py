"""POST /v1/audio/transcriptions and /v1/audio/translations."""

from gateway.core.api.access import requires_model
from gateway.core.http.lean import LeanAnswer, LeanRequest
from inference.metering.viewset import MeteredViewSet
from inference.routes.transcriptions.reference import describe_transcriptions, describe_translations
from inference.routes.transcriptions.route import TRANSCRIPTIONS, TRANSLATIONS


class TranscriptionViewSet(MeteredViewSet):
    """Transcriptions of a file, as JSON, text or a stream of events."""

    route = TRANSCRIPTIONS

    @describe_transcriptions
    @requires_model
    async def create(self, request: LeanRequest) -> LeanAnswer:
        """Transcribe a file."""
        return await self.serve(request)


class TranslationViewSet(MeteredViewSet):
    """Translations of a file into English."""

    route = TRANSLATIONS

    @describe_translations
    @requires_model
    async def create(self, request: LeanRequest) -> LeanAnswer:
        """Translate a file."""
        return await self.serve(request)
