"""POST /v1/judgement."""

from gateway.core.api.access import requires_metered
from gateway.core.api.schema import refuses
from gateway.core.contract.capabilities import Capability
from gateway.core.contract.errors import ImageRejected, ImagesUnsupported
from gateway.core.http.lean import LeanAnswer, LeanRequest
from inference.metering.viewset import MeteredViewSet
from judgement.route.reference import describe_judgement
from judgement.route.route import JUDGEMENT


class JudgementViewSet(MeteredViewSet):
    """Answers questions about a state."""

    route = JUDGEMENT

    @describe_judgement
    @refuses(ImagesUnsupported, ImageRejected)
    @requires_metered(Capability.JUDGEMENT_EVALUATE)
    async def create(self, request: LeanRequest) -> LeanAnswer:
        """Answer typed questions about a state, each with the probability of every possible answer."""
        return await self.serve(request)
