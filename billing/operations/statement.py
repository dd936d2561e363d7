"""A call of a database function that can run on any connection."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar

from django.db import connection as django_connection

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Statement(Generic[Row]):
    """SQL text with named placeholders, its parameters, and how to read its row.

    `statement.run()` runs it on Django's connection; other callers use the three members directly.
    """

    sql: str
    parameters: Mapping[str, Any]
    read: Callable[[Any], Row]

    def run(self) -> Row:
        """Run it on Django's connection, inside the caller's transaction if there is one, and return its row."""
        return self.read(self.rows()[0])

    def rows(self) -> list[Any]:
        """Run it on Django's connection and return every row unread."""
        with django_connection.cursor() as cursor:
            cursor.execute(self.sql, self.parameters)
            return cursor.fetchall()


def call(function: str, read: Callable[[Any], Row], /, **parameters: Any) -> Statement[Row]:
    """Build the statement that calls `function`, passing each parameter `x` as `p_x`."""
    return Statement(_select(function, tuple(parameters)), parameters, read)


@lru_cache(maxsize=64)
def _select(function: str, names: tuple[str, ...]) -> str:
    arguments = ", ".join(f"p_{name} => %({name})s" for name in names)
    return f"SELECT * FROM {function}({arguments})"  # noqa: S608 (the names are ours)
