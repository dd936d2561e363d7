"""Declares the response route to the metering core."""

from gateway.core.contract.aliases import Route
from gateway.core.database import BatchFunction
from inference.endpoints import ENDPOINTS
from inference.metering.json_route import read_json_with_images
from inference.metering.route import MeteredRoute
from inference.routes.responses.bound import bound_response
from inference.routes.responses.check import check
from inference.routes.responses.fetching import fetch_images
from inference.routes.responses.record import ID_PREFIX

CLOSE_AND_STORE = BatchFunction(0, "inference_close_responses")

RESPONSES = MeteredRoute(
    name=Route.RESPONSES,
    id_prefix=ID_PREFIX,
    read=read_json_with_images,
    check=check,
    bound=bound_response,
    prepare=fetch_images,
    endpoints=ENDPOINTS[Route.RESPONSES],
    close_function=CLOSE_AND_STORE,
)
