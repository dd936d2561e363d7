"""`POST /v1/judgement`: the route's declaration for the metering core, and its view."""

from functools import partial

from gateway.core.api.access import requires_metered
from gateway.core.api.schema import refuses
from gateway.core.contract.aliases import Route
from gateway.core.contract.capabilities import Capability
from gateway.core.contract.errors import ImageRejected, ImagesUnsupported
from gateway.core.database import BatchFunction
from gateway.core.http.lean import LeanAnswer, LeanRequest
from inference.metering.route import MeteredRoute
from inference.metering.serving import MeteredViewSet
from inference.rules.terms import read_terms_with_optional_key
from judgement.endpoints import ENDPOINTS
from judgement.route.bound import bound_judgement
from judgement.route.check import check, read_judgement
from judgement.route.fetching import fetch_images
from judgement.route.reference import describe_judgement

CLOSE_AND_COUNT = BatchFunction(0, "judgement_close_calls")

JUDGEMENT = MeteredRoute(
    name=Route.JUDGEMENT,
    id_prefix="jdg",
    read=read_judgement,
    check=partial(check, endpoints=ENDPOINTS),
    bound=bound_judgement,
    prepare=fetch_images,
    endpoints=ENDPOINTS,
    scopes=lambda model: (Capability.JUDGEMENT_EVALUATE,),
    terms=read_terms_with_optional_key,
    close_function=CLOSE_AND_COUNT,
)


class JudgementViewSet(MeteredViewSet):
    """Answers questions about a state."""

    route = JUDGEMENT

    @describe_judgement
    @refuses(ImagesUnsupported, ImageRejected)
    @requires_metered(Capability.JUDGEMENT_EVALUATE)
    async def create(self, request: LeanRequest) -> LeanAnswer:
        """Answer typed questions about a state, each with the probability of every possible answer."""
        return await self.serve(request)
