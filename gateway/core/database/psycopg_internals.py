"""What the gateway uses of psycopg's private and undocumented names, which any release may change (docs/decisions/0065)."""

from typing import Any, ClassVar

from psycopg import AsyncConnection, Connection, errors
from psycopg.errors import QueryCanceled, _WaitTimeout
from psycopg.pq.abc import PGresult

Result = PGresult
"""What libpq answered to a statement."""

error_of = errors.error_from_result
"""Build the exception of a result that reports an error."""


class LimitedConnection(Connection[Any]):
    """A connection whose waits for an answer have a limit. psycopg itself has none for them."""

    _is_committing = False

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

    def commit(self) -> None:
        """Commit the transaction, if there is one."""
        self._is_committing = True
        try:
            super().commit()
        finally:
            self._is_committing = False

    def _try_cancel(self, *, timeout: float = 5.0) -> None:
        """Cancel what runs when the process is interrupted, unless it may be a commit that waits for a standby.

        Such a commit would be kept by the primary alone. psycopg waits for it for a few seconds more, and hangs up then.
        """
        if not (self.autocommit or self._is_committing):
            super()._try_cancel(timeout=timeout)


class UncancelledAsyncConnection(AsyncConnection[Any]):
    """A connection that is closed if its task is cancelled during a statement, which may be a commit that waits for a standby."""

    async def _try_cancel(self, **options: Any) -> None:
        self.pgconn.finish()
        raise QueryCanceled("the connection was closed instead")


class LimitedAsyncConnection(UncancelledAsyncConnection):
    """The same for an asynchronous connection, which raises an OperationalError and is then to be closed."""

    answer_seconds: ClassVar[float]

    async def wait(self, gen: Any, *args: Any, **options: Any) -> Any:
        """Wait for the answer to a statement. psycopg calls it for each."""
        return await super().wait(gen, *args, **{"timeout": self.answer_seconds, **options})
