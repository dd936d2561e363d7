"""The metered routes' own way to PostgreSQL: an asynchronous pool, and several statements in one round trip."""

from gateway.database.pool import close_pool, ledger_connection, open_pool
from gateway.database.trips import Trip

__all__ = ["Trip", "close_pool", "ledger_connection", "open_pool"]
