"""What a connection shows of replication: a commit that its standby may lack, and a server that refuses writes."""

from psycopg import OperationalError
from psycopg.errors import Diagnostic

FRESH_SECONDS = 1.0
"""A server that refuses writes is left for another one, if there is one, at most this often."""


class Unreplicated(OperationalError):
    """The primary has committed, but the wait for its synchronous standby was cancelled: whether this outlives the primary is
    unknown."""

    def __init__(self) -> None:
        super().__init__("it was committed, but the standby that has to confirm it may lack it")


def is_unreplicated(notice: Diagnostic) -> bool:
    """Return whether a notice says that a commit no longer waits for its standby. Its text depends on the server's language."""
    return notice.source_function == "SyncRepWaitForLSN"
