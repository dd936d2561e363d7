"""Declares the speech route to the metering core."""

from gateway.core.contract.aliases import Route
from inference.endpoints import ENDPOINTS
from inference.metering.json_route import read_json
from inference.metering.route import MeteredRoute
from inference.routes.speech.bound import bound_speech
from inference.routes.speech.request import read_request

SPEECH = MeteredRoute(
    name=Route.SPEECH,
    id_prefix="spch",
    read=read_json,
    check=read_request,
    bound=bound_speech,
    endpoints=ENDPOINTS[Route.SPEECH],
)
