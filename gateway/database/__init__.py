"""The metered routes' own way to PostgreSQL: warm connections, prepared statements, and calls that go in batches."""

from gateway.database.batches import BatchFunction, Element, run
from gateway.database.connection import Unanswered
from gateway.database.pool import close_pool, ledger_connection, open_pool

__all__ = ["BatchFunction", "Element", "Unanswered", "close_pool", "ledger_connection", "open_pool", "run"]
