"""What a connection shows of replication: a commit that its standby may lack, and a server that refuses writes."""

from functools import partial
from typing import Any
from weakref import ref

from psycopg import OperationalError
from psycopg.errors import Diagnostic

FRESH_SECONDS = 1.0
"""A server that refuses writes is left for another one, if there is one, at most this often."""


class Unreplicated(OperationalError):
    """The primary has committed, but the wait for its synchronous standby was cancelled: whether this outlives the primary is
    unknown."""

    def __init__(self) -> None:
        super().__init__("it was committed, but the standby that has to confirm it may lack it")


def note_unreplicated(connection: Any) -> None:
    """Set a connection's `is_unreplicated` once the server says that a commit no longer waits for its standby.

    The handler does not refer to the connection: one that is dropped ends at once, and not with a garbage collection.
    """
    connection.add_notice_handler(partial(_noticed, ref(connection)))


def _noticed(connection: ref[Any], notice: Diagnostic) -> None:
    receiver = connection()
    # The text depends on the server's language.
    if receiver is not None and notice.source_function == "SyncRepWaitForLSN":
        receiver.is_unreplicated = True
