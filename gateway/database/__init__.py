"""The metered routes' own way to PostgreSQL: warm connections, prepared statements, and a flush that many share."""

from gateway.database.flush import flushed
from gateway.database.pool import close_pool, ledger_connection, open_pool

__all__ = ["close_pool", "flushed", "ledger_connection", "open_pool"]
