"""Whether commits wait for a synchronous standby. Nobody sees what such a transaction has done until its wait ends.

PostgreSQL commits then, whatever has become of the client. So what is not there may still appear, however much later.
"""

from django.db import connection

from gateway.core.database.pool import ledger_connection

_COMMITS_WAIT = """
SELECT EXISTS (
  SELECT FROM pg_stat_activity
   WHERE datname = current_database() AND wait_event = 'SyncRep' AND query_start < clock_timestamp() - interval '10 seconds')
"""
"""For longer than a standby takes that is there. A role sees this of its own connections."""


async def commits_wait() -> bool:
    """Return whether a commit of this role waits for long. Raises what the database raises."""
    async with ledger_connection() as connected:
        [(is_waiting,)] = await connected.run(_COMMITS_WAIT)
    return bool(is_waiting)


def commits_wait_sync() -> bool:
    """Return the same to code that may block."""
    with connection.cursor() as cursor:
        cursor.execute(_COMMITS_WAIT)
        [(is_waiting,)] = cursor.fetchall()
    return bool(is_waiting)
