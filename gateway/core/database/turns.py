"""Serializes transactions that would conflict but have no row in common to lock."""

from django.db import connection


def take_turn(name: str) -> None:
    """Wait for all other transactions that took a turn of this name. The turn ends with the caller's transaction, which is
    required."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])


def try_turn(name: str) -> bool:
    """Take a turn of this name if no other transaction has it; return whether it was taken."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))", [name])
        return bool(cursor.fetchone()[0])
