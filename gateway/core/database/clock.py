"""The clock that all machines share."""

from datetime import datetime

from django.db import connection


def database_now() -> datetime:
    """Return the database's time.

    For what another machine acts on, such as a lease: with a machine's own clock, one that is ahead would take what others still have,
    and what it has would never be free if it died.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        [(now,)] = cursor.fetchall()
    return now
