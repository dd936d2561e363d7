"""The base of the metered views."""

from typing import ClassVar

from django.http import HttpResponse
from django.http.response import HttpResponseBase

from gateway.api.lean import EventStream, LeanRequest, LeanViewSet
from inference.operations.answers import StreamedAnswer
from inference.operations.calls import serve
from inference.rules.demand import RouteRules


class MeteredViewSet(LeanViewSet):
    """A metered route: what is particular to it stands in its rules."""

    rules: ClassVar[RouteRules]

    async def serve(self, request: LeanRequest) -> HttpResponseBase:
        """Run the call and render its answer."""
        answer = await serve(request, self.rules)
        if isinstance(answer, StreamedAnswer):
            return EventStream(answer.events, answer.headers)
        return HttpResponse(answer.body, status=answer.status, headers=dict(answer.headers))
