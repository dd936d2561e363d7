"""What a view on the event loop returns."""

from collections.abc import Mapping

from django.http import HttpResponse
from django.http.response import HttpResponseBase

from gateway.core.contract.values import value_class


@value_class(frozen=True, slots=True)
class LeanResponse:
    """A response in one piece, which is sent as it is. Its headers name its media type."""

    body: bytes
    status_code: int
    headers: Mapping[str, str]

    def to_django(self) -> HttpResponse:
        """Build Django's response, which middleware can change. Raises BadHeaderError if a header would end its line."""
        return HttpResponse(self.body, status=self.status_code, headers=dict(self.headers))


LeanAnswer = HttpResponseBase | LeanResponse
