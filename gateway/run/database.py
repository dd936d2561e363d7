"""Keeps an embedded database running."""

import time
from collections.abc import Callable

from gateway.run.errors import DatabaseEnded, StartError
from gateway.run.postgres import Cluster
from gateway.run.restarts import Restarts, describe


class SupervisedDatabase:
    """A started database, which is restarted on its port whenever it ends, also while it starts."""

    def __init__(self, cluster: Cluster, say: Callable[[str], None]) -> None:
        self._cluster = cluster
        self._say = say
        self._url = cluster.url
        self._restarts = Restarts(started_at=time.monotonic())
        self._is_down = False

    def tick(self) -> None:
        """Restart the database if it has ended and the pause is over. Raises StartError if it keeps failing."""
        code = self._cluster.exit_code()
        if code is not None and not self._is_down:
            self._handle_end(code, f"the database stopped ({describe(code)}); restarting it")
        if self._is_down and time.monotonic() >= self._restarts.due_at:
            self._start()

    def _start(self) -> None:
        self._restarts.started_at = time.monotonic()
        try:
            url = self._cluster.start()
        except DatabaseEnded as ended:
            self._handle_end(ended.code, str(ended))
            return
        self._is_down = False
        if url != self._url:
            raise StartError("Another process took the database's port; start the gateway again.")

    def _handle_end(self, code: int, text: str) -> None:
        if not self._restarts.ended(code, time.monotonic()):
            raise StartError(text)
        self._is_down = True
        self._say(text)
