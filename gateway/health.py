"""GET /healthz: 200 when the database and the replay store answer, 503 otherwise. SPEC: Account and access."""

from collections.abc import Callable

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from psycopg import Error as DriverError
from psycopg_pool import PoolTimeout

PATH = "/healthz"


class HealthMiddleware:
    """Answers before the request's host is looked at: load balancers and containers ask by address, not by name."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer, or pass the request on."""
        return healthz(request) if request.path == PATH else self.get_response(request)


def healthz(request: HttpRequest) -> JsonResponse:
    """Tell whether this process can serve."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM accounts_replay_epoch LIMIT 1")
    except (DatabaseError, DriverError, PoolTimeout):
        return JsonResponse({"status": "not_ready"}, status=503)
    return JsonResponse({"status": "ok"})
