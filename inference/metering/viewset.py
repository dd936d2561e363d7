"""The base of the metered viewsets."""

from typing import Any, ClassVar

from gateway.core.api.async_viewsets import LeanViewSet
from gateway.core.http.lean import LeanAnswer, LeanRequest, LeanResponse, LeanStreamingResponse
from inference.metering.answers import StreamedAnswer
from inference.metering.route import MeteredRoute
from inference.metering.serving import serve


class MeteredViewSet(LeanViewSet):
    """A metered route's viewset."""

    route: ClassVar[MeteredRoute[Any, Any]]

    async def serve(self, request: LeanRequest) -> LeanAnswer:
        """Run the call and render its answer."""
        answer = await serve(request, self.route)
        if isinstance(answer, StreamedAnswer):
            return LeanStreamingResponse(answer.events, answer.headers)
        return LeanResponse(answer.body, answer.status, answer.headers)
