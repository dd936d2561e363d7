"""`POST /v1/audio/speech`: the route's declaration for the metering core, and its view."""

from gateway.core.api.access import requires_model
from gateway.core.contract.aliases import Route
from gateway.core.http.lean import LeanAnswer, LeanRequest
from inference.endpoints import ENDPOINTS
from inference.metering.bodies import read_json
from inference.metering.route import MeteredRoute
from inference.metering.serving import MeteredViewSet
from inference.routes.speech.bound import bound_speech
from inference.routes.speech.reference import describe_speech
from inference.routes.speech.request import read_request

SPEECH = MeteredRoute(
    name=Route.SPEECH,
    id_prefix="spch",
    read=read_json,
    check=read_request,
    bound=bound_speech,
    endpoints=ENDPOINTS[Route.SPEECH],
)


class SpeechViewSet(MeteredViewSet):
    """Spoken text, as bytes or as server-sent events."""

    route = SPEECH

    @describe_speech
    @requires_model
    async def create(self, request: LeanRequest) -> LeanAnswer:
        """Turn text into speech."""
        return await self.serve(request)
