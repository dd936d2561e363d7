"""States the limits that a request was counted in on its response, whoever renders it."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from gateway.core.contract.rate_limits import RateLimit, rate_limit_headers


def note(request: HttpRequest, *states: RateLimit) -> None:
    """Remember what is left of limits, for the header fields of the request's response."""
    noted: list[RateLimit] = request.__dict__.setdefault("rate_limits", [])
    noted.extend(states)


class RateLimitHeaders:
    """Adds `RateLimit-Policy` and `RateLimit` to a response, before the items that a refusal has set itself."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Respond. A response that caches may give to others says nothing of this client."""
        response = self.get_response(request)
        if "public" not in response.get("Cache-Control", ""):
            for name, items in rate_limit_headers(request.__dict__.get("rate_limits", ())).items():
                response[name] = f"{items}, {response[name]}" if name in response else items
        return response
