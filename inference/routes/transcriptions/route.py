"""`POST /v1/audio/transcriptions` and `POST /v1/audio/translations`: each route's declaration for the metering core, and its view."""

import asyncio
import time

from django.conf import settings

from gateway.core.api.access import requires_model
from gateway.core.contract.aliases import Route
from gateway.core.contract.errors import InvalidRequest, NotReady
from gateway.core.contract.limits import AUDIO_BODY_MAX_BYTES
from gateway.core.http.lean import LeanAnswer, LeanRequest
from gateway.core.runtime.turns import Turns
from inference.endpoints import ENDPOINTS
from inference.metering.bodies import form_reader
from inference.metering.route import MeteredRequest, MeteredRoute
from inference.metering.serving import MeteredViewSet
from inference.routes.transcriptions.bound import BoundedTranscription, bound_transcription
from inference.routes.transcriptions.reference import describe_transcriptions, describe_translations
from inference.routes.transcriptions.request import read_transcription, read_translation
from inference.rules.audio.length import read_length
from inference.rules.audio.source import UnreadableAudio

_turns = Turns("audio-lengths")


async def measure_file(http: MeteredRequest, request: BoundedTranscription) -> BoundedTranscription:
    """Return the request with its file's length and its hold. Raises InvalidRequest if the file cannot be measured,
    MaxCostExceeded, or NotReady if its turn does not come in time."""
    try:
        async with asyncio.timeout(settings.LARGE_BODY_WAIT_SECONDS):
            length = await _turns.run(read_length, request.params.file, time.thread_time)
    except TimeoutError:
        raise NotReady("Too many files are being measured.", headers={"Retry-After": "5"}) from None
    except UnreadableAudio as error:
        raise InvalidRequest(f"The length of the file cannot be determined. {error}", param="file") from error
    return request.measured(length)


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
