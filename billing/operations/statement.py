"""One call of a function in the database, ready to run on whichever connection the caller has."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar

from django.db import connection as django_connection

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Statement(Generic[Row]):
    """SQL text with named placeholders, its parameters, and how to read its row.

    `statement.run()` runs it on Django's connection; others take the three members as they are.
    """

    sql: str
    parameters: Mapping[str, Any]
    read: Callable[[Any], Row]

    def run(self) -> Row:
        """Run it on Django's connection, inside the caller's transaction where there is one."""
        return self.read(self.rows()[0])

    def rows(self) -> list[Any]:
        """Run it on Django's connection and give every row as it came."""
        with django_connection.cursor() as cursor:
            cursor.execute(self.sql, self.parameters)
            return cursor.fetchall()


def call(function: str, read: Callable[[Any], Row], /, **parameters: Any) -> Statement[Row]:
    """Make the statement that calls `function` with each parameter `x` as its `p_x`."""
    return Statement(_select(function, tuple(parameters)), parameters, read)


@lru_cache(maxsize=64)
def _select(function: str, names: tuple[str, ...]) -> str:
    arguments = ", ".join(f"p_{name} => %({name})s" for name in names)
    return f"SELECT * FROM {function}({arguments})"  # noqa: S608 (the names are ours)
