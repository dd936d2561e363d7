"""`POST /v1/late-interaction/score`: the route's declaration for the metering core, and its view."""

from functools import partial

from gateway.core.api.access import requires_model
from gateway.core.contract.aliases import Route
from gateway.core.http.lean import LeanAnswer, LeanRequest
from inference.endpoints import ENDPOINTS, representing
from inference.metering.bodies import read_json
from inference.metering.route import MeteredRoute
from inference.metering.serving import MeteredViewSet
from inference.queries.representations import CLOSE_AND_NOTE
from inference.routes.late_interaction.bound import bound_late_interaction
from inference.routes.late_interaction.reference import describe_late_interaction
from inference.routes.late_interaction.request import read_request

LATE_INTERACTION = MeteredRoute(
    name=Route.LATE_INTERACTION,
    id_prefix="late",
    read=read_json,
    check=partial(read_request, adapters=representing(Route.LATE_INTERACTION)),
    bound=bound_late_interaction,
    endpoints=ENDPOINTS[Route.LATE_INTERACTION],
    close_function=CLOSE_AND_NOTE,
)


class LateInteractionViewSet(MeteredViewSet):
    """Documents scored by a query, token by token."""

    route = LATE_INTERACTION

    @describe_late_interaction
    @requires_model
    async def score(self, request: LeanRequest) -> LeanAnswer:
        """Score the documents."""
        return await self.serve(request)
