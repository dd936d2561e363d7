"""GET /v1/realtime without a handshake. Handshakes are served by `application.py`."""

from gateway.core.api.access import requires
from gateway.core.contract.capabilities import Capability
from gateway.core.http.lean import LeanAnswer, LeanRequest
from inference.metering.viewset import MeteredViewSet
from inference.routes.realtime.reference import describe_realtime
from inference.routes.realtime.route import REALTIME


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
