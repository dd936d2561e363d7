"""POST /v1/chat/completions."""

from django.http.response import HttpResponseBase

from gateway.api.access import requires_model
from gateway.api.lean import LeanRequest
from inference.rules.chat import ChatRules
from inference.serializers.reference import describe_chat
from inference.views.metered import MeteredViewSet


class ChatCompletionViewSet(MeteredViewSet):
    """Chat completions, as JSON or as server-sent events."""

    rules = ChatRules()

    @describe_chat
    @requires_model
    async def create(self, request: LeanRequest) -> HttpResponseBase:
        """Answer a chat."""
        return await self.serve(request)
