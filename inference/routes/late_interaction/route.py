"""Declares the late interaction route to the metering core."""

from gateway.core.contract.aliases import Route
from inference.metering.json_route import read_json
from inference.metering.route import MeteredRoute
from inference.queries.representations import CLOSE_AND_NOTE
from inference.routes.late_interaction.bound import bound_late_interaction
from inference.routes.late_interaction.request import read_request
from inference.vendors.demo.late_interaction import DemoLateInteraction
from inference.vendors.representation.late_interaction import RepresentationLateInteraction

LATE_INTERACTION = MeteredRoute(
    name=Route.LATE_INTERACTION,
    id_prefix="late",
    read=read_json,
    check=read_request,
    bound=bound_late_interaction,
    endpoints={"representation": RepresentationLateInteraction(), "demo": DemoLateInteraction()},
    close_function=CLOSE_AND_NOTE,
)
