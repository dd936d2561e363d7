"""Declares the late interaction route to the metering core."""

from functools import partial

from gateway.core.contract.aliases import Route
from inference.endpoints import ENDPOINTS, adapters_of
from inference.metering.json_route import read_json
from inference.metering.route import MeteredRoute
from inference.queries.representations import CLOSE_AND_NOTE
from inference.routes.late_interaction.bound import bound_late_interaction
from inference.routes.late_interaction.request import read_request

LATE_INTERACTION = MeteredRoute(
    name=Route.LATE_INTERACTION,
    id_prefix="late",
    read=read_json,
    check=partial(read_request, adapters=adapters_of(Route.LATE_INTERACTION)),
    bound=bound_late_interaction,
    endpoints=ENDPOINTS[Route.LATE_INTERACTION],
    close_function=CLOSE_AND_NOTE,
)
