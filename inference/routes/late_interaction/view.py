"""POST /v1/late-interaction/score."""

from gateway.core.api.access import requires_model
from gateway.core.http.lean import LeanAnswer, LeanRequest
from inference.metering.viewset import MeteredViewSet
from inference.routes.late_interaction.reference import describe_late_interaction
from inference.routes.late_interaction.route import LATE_INTERACTION


class LateInteractionViewSet(MeteredViewSet):
    """Documents scored by a query, token by token."""

    route = LATE_INTERACTION

    @describe_late_interaction
    @requires_model
    async def score(self, request: LeanRequest) -> LeanAnswer:
        """Score the documents."""
        return await self.serve(request)
