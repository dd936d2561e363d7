"""The base of the metered viewsets."""

from typing import Any, ClassVar

from django.http import HttpResponse
from django.http.response import HttpResponseBase

from gateway.core.api.lean import LeanRequest, LeanStreamingResponse, LeanViewSet
from inference.metering.answers import StreamedAnswer
from inference.metering.route import MeteredRoute
from inference.metering.serving import serve


class MeteredViewSet(LeanViewSet):
    """A metered route's viewset."""

    route: ClassVar[MeteredRoute[Any, Any]]

    async def serve(self, request: LeanRequest) -> HttpResponseBase:
        """Run the call and render its answer."""
        answer = await serve(request, self.route)
        if isinstance(answer, StreamedAnswer):
            return LeanStreamingResponse(answer.events, answer.headers)
        return HttpResponse(answer.body, status=answer.status, headers=dict(answer.headers))
