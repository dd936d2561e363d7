"""Declares the transcription and translation routes to the metering core."""

from gateway.core.contract.aliases import Route
from gateway.core.contract.limits import AUDIO_BODY_MAX_BYTES
from inference.endpoints import ENDPOINTS
from inference.metering.form_route import form_reader
from inference.metering.route import MeteredRoute
from inference.routes.transcriptions.bound import bound_transcription
from inference.routes.transcriptions.measuring import measure_file
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
