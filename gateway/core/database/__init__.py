"""The metered routes' own access to PostgreSQL: warm connections, prepared statements, and batches of calls."""

from gateway.core.database.batches import BatchFunction, Element, run
from gateway.core.database.connection import Unanswered
from gateway.core.database.pool import close_pool, ledger_connection, on_new_history, open_pool, watch_pool
from gateway.core.database.refusals import DatabaseRefused
from gateway.core.database.waiting_commits import commits_wait, commits_wait_sync

__all__ = [
    "BatchFunction",
    "DatabaseRefused",
    "Element",
    "Unanswered",
    "close_pool",
    "commits_wait",
    "commits_wait_sync",
    "ledger_connection",
    "on_new_history",
    "open_pool",
    "run",
    "watch_pool",
]
