"""`POST /v1/audio/transcriptions` and `POST /v1/audio/translations`: each route's declaration for the metering core, and its view."""

from gateway.core.api.access import requires_model
from gateway.core.contract.aliases import Route
from gateway.core.contract.limits import AUDIO_BODY_MAX_BYTES
from gateway.core.http.lean import LeanAnswer, LeanRequest
from inference.endpoints import ENDPOINTS
from inference.metering.bodies import form_reader
from inference.metering.route import MeteredRoute
from inference.metering.serving import MeteredViewSet
from inference.routes.transcriptions.bound import bound_transcription
from inference.routes.transcriptions.measuring import measure_file
from inference.routes.transcriptions.reference import describe_transcriptions, describe_translations
from inference.routes.transcriptions.request import read_transcription, read_translation

TRANSCRIPTIONS = MeteredRoute(
    name=Route.TRANSCRIPTIONS,
    id_prefix="trsc",
    read=form_reader(AUDIO_BODY_MAX_BYTES),
    check=read_transcription,
    bound=bound_transcription,
    prepare=measure_file,
    endpoints=ENDPOINTS[Route.TRANSCRIPTIONS],
)
TRANSLATIONS = MeteredRoute(
    name=Route.TRANSLATIONS,
    id_prefix="trsl",
    read=form_reader(AUDIO_BODY_MAX_BYTES),
    check=read_translation,
    bound=bound_transcription,
    prepare=measure_file,
    endpoints=ENDPOINTS[Route.TRANSLATIONS],
)


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
