"""GET /healthz: 200 when the database and the replay store answer, 503 otherwise. SPEC: Account and access."""

from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from psycopg import Error as DriverError
from psycopg_pool import PoolTimeout


def healthz(request: HttpRequest) -> JsonResponse:
    """Tell whether this process can serve."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM accounts_replay_epoch LIMIT 1")
    except (DatabaseError, DriverError, PoolTimeout):
        return JsonResponse({"status": "not_ready"}, status=503)
    return JsonResponse({"status": "ok"})
