"""Lets those who would get in each other's way take turns, where no row stands for what they share."""

from django.db import connection


def take_turn(name: str) -> None:
    """Wait for everybody else who took a turn of this name; the turn ends with the transaction that it must be in."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])
