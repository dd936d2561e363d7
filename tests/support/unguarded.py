"""Writes behind the ledger's back, which its guards refuse to everybody else."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def unguarded() -> Iterator[None]:
    """Pass the database's triggers by on Django's connection: only a superuser's session may."""
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        try:
            yield
        finally:
            cursor.execute("SET session_replication_role = DEFAULT")
