"""What the gateway uses of psycopg's private and undocumented names, which any release may change (docs/decisions/0065)."""

from typing import Any, ClassVar

from psycopg import AsyncConnection, Connection, errors
from psycopg.errors import _WaitTimeout
from psycopg.pq.abc import PGresult

Result = PGresult
"""What libpq answered to a statement."""

error_of = errors.error_from_result
"""Build the exception of a result that reports an error."""


class LimitedConnection(Connection[Any]):
    """A connection whose waits for an answer have a limit. psycopg itself has none for them."""

    def wait_limit_seconds(self) -> float | None:
        """Hook: return the limit of a wait for which the caller sets none; None if there is none."""
        raise NotImplementedError

    def overdue(self, seconds: float) -> Exception:
        """Hook: no answer came within the limit. Return the exception to raise."""
        raise NotImplementedError

    def wait(self, gen: Any, *args: Any, **options: Any) -> Any:
        """Wait for the answer to a statement. psycopg calls it for each."""
        limit = self.wait_limit_seconds()
        try:
            return super().wait(gen, *args, **{"timeout": limit, **options})
        except _WaitTimeout:
            if "timeout" in options or limit is None:
                raise
            raise self.overdue(limit) from None


class LimitedAsyncConnection(AsyncConnection[Any]):
    """The same for an asynchronous connection, which raises an OperationalError and is then to be closed."""

    answer_seconds: ClassVar[float]

    async def wait(self, gen: Any, *args: Any, **options: Any) -> Any:
        """Wait for the answer to a statement. psycopg calls it for each."""
        return await super().wait(gen, *args, **{"timeout": self.answer_seconds, **options})
