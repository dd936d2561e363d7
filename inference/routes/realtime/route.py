"""Declares the realtime route to the metering core."""

from accounts.models.consent import REALTIME as CONSENT
from gateway.core.contract.aliases import Route
from gateway.core.contract.capabilities import Capability, infer
from gateway.core.contract.errors import InvalidRequest
from inference.endpoints import ENDPOINTS
from inference.metering.route import MeteredRequest, MeteredRoute
from inference.routes.realtime.bound import bound_session
from inference.routes.realtime.handshake import Handshake
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
