"""`GET /v1/realtime`: the route's declaration for the metering core, and its view. Handshakes are served by `application.py`."""

from accounts.models.consent import REALTIME as CONSENT
from gateway.core.api.access import requires
from gateway.core.contract.aliases import Route
from gateway.core.contract.capabilities import Capability, infer
from gateway.core.contract.errors import InvalidRequest
from gateway.core.http.lean import LeanAnswer, LeanRequest
from inference.endpoints import ENDPOINTS
from inference.metering.route import MeteredRequest, MeteredRoute
from inference.metering.serving import MeteredViewSet
from inference.routes.realtime.bound import bound_session
from inference.routes.realtime.handshake import Handshake
from inference.routes.realtime.reference import describe_realtime
from inference.routes.realtime.request import RealtimeQuery, check_request, read_query


async def read_handshake(request: MeteredRequest) -> RealtimeQuery:
    """Read a handshake's query. Raises InvalidRequest, also for a request that is not a handshake."""
    if not isinstance(request, Handshake):
        raise InvalidRequest("This route accepts only WebSocket handshakes.", headers={"Upgrade": "websocket"})
    return read_query(request.query)


REALTIME = MeteredRoute(
    name=Route.REALTIME,
    id_prefix="sess",
    read=read_handshake,
    check=check_request,
    bound=bound_session,
    endpoints=ENDPOINTS[Route.REALTIME],
    scopes=lambda model: (Capability.REALTIME_CONNECT, infer(model)),
    consent=CONSENT,
)


class RealtimeViewSet(MeteredViewSet):
    """Realtime sessions over a WebSocket."""

    route = REALTIME

    @describe_realtime
    @requires(Capability.REALTIME_CONNECT)
    async def connect(self, request: LeanRequest) -> LeanAnswer:
        """Open a session with a model, by a WebSocket handshake. It speaks the vendor's realtime protocol.

        A handshake is metered: it carries `Idempotency-Key` and `x-service-max-cost-microusd` like a model call. A
        browser, which can set no headers, offers subprotocols instead: `service.realtime.v1`,
        `service.token.<access token>`, `service.proof.<proof>`, `service.key.<idempotency key>` and
        `service.max.<micro-USD>`. A refused handshake is an HTTP answer.
        """
        return await self.serve(request)
