"""Makes plans of queries independent of the tests that ran before."""

from django.db import connection

from tests.support.unguarded import unguarded

FORGET = "DELETE FROM pg_statistic WHERE starelid = %s::regclass"


def renew(*tables: str) -> None:
    """Empty tables and drop their statistics. The planner looks at both and at the pages that deleted rows left."""
    with connection.cursor() as cursor, unguarded():
        for table in tables:
            cursor.execute(f"TRUNCATE ONLY {table} CASCADE")
            cursor.execute(FORGET, [table])
