"""POST /v1/chat/completions."""

from gateway.core.api.access import requires_model
from gateway.core.api.schema import refuses
from gateway.core.contract.errors import ImageRejected, RateLimited
from gateway.core.http.lean import LeanAnswer, LeanRequest
from inference.metering.viewset import MeteredViewSet
from inference.routes.chat.reference import describe_chat
from inference.routes.chat.route import CHAT


class ChatCompletionViewSet(MeteredViewSet):
    """Chat completions, as JSON or as server-sent events."""

    route = CHAT

    @describe_chat
    @refuses(ImageRejected, RateLimited)
    @requires_model
    async def create(self, request: LeanRequest) -> LeanAnswer:
        """Create a chat completion."""
        return await self.serve(request)
