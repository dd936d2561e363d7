"""What the gateway uses of kombu's private and undocumented names, which any release may change (docs/decisions/0065)."""

import time
from pathlib import Path
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, filesystem

LOOK_SECONDS = 0.2
"""The time between two looks for a message, unless a shorter one is set."""

Binding = filesystem.exchange_queue_t
"""Which messages of an exchange go to a queue: `routing_key`, `pattern`, `queue`."""


class FileChannel(filesystem.Channel):
    """A channel that keeps messages and bindings in files, in a way that is left to a subclass."""

    control_folder: Path
    data_folder_in: str
    data_folder_out: str

    def get_table(self, exchange: str) -> list[Any]:
        """Hook: return an exchange's bindings."""
        raise NotImplementedError

    def add_binding(self, exchange: str, binding: Any) -> None:
        """Hook: add a binding."""
        raise NotImplementedError

    def remove_binding(self, exchange: str, binding: Any) -> None:
        """Hook: remove a binding, if it exists."""
        raise NotImplementedError

    def store(self, queue: str, message: Any) -> None:
        """Hook: append a message."""
        raise NotImplementedError

    def take(self, queue: str) -> Any:
        """Hook: remove and return the oldest message. Raises queue.Empty."""
        raise NotImplementedError

    def bindings_file(self, exchange: str) -> Path:
        """Return the file of an exchange's bindings."""
        return Path(self._exchange_file(exchange))

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str, queue: str) -> None:
        self.add_binding(exchange, Binding(routing_key or "", pattern or "", queue or ""))

    def _delete(self, queue: str, exchange: str, routing_key: str, pattern: str, *args: Any, **kwargs: Any) -> None:
        self.remove_binding(exchange, Binding(routing_key or "", pattern or "", queue or ""))

    def _put(self, queue: str, payload: Any, **kwargs: Any) -> None:  # type: ignore[override]
        self.store(queue, payload)

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        return self.take(queue)


class FileTransport(filesystem.Transport):
    """Connects Celery to the directory that its transport options name. A subclass names the class of its channels."""

    Channel: type[FileChannel]
    is_ending = False

    @classmethod
    def end(cls) -> None:
        """Have this process wait for messages no longer. The handler of a signal may call this: it takes no lock."""
        cls.is_ending = True

    def drain_events(self, connection: Any, timeout: float | None = None, **kwargs: Any) -> Any:
        """Wait for the next message and deliver it. Raises TimeoutError after `timeout` seconds, and at once if the process is to end.

        Kombu's own would sleep on for two seconds then, and the whole gateway would wait for that with its end.
        """
        deadline = float("inf") if timeout is None else time.monotonic() + timeout
        while True:
            try:
                return super().drain_events(connection, timeout=0, **kwargs)
            except TimeoutError:
                if self.is_ending or time.monotonic() >= deadline:
                    raise
            time.sleep(min(LOOK_SECONDS, self.polling_interval or LOOK_SECONDS))


def register_transport(scheme: str, path: str) -> None:
    """Register a transport, given as `module:Class`, for broker URLs of a scheme."""
    TRANSPORT_ALIASES[scheme] = path
