"""Runs the gateway's ASGI application under real uvicorn, on a real socket, in the test's process."""

import threading
import time
from typing import Any, Self

import uvicorn

from gateway.core.runtime import background

_running: set["RunningGateway"] = set()


def wait_for_abandoned_calls(timeout_seconds: float = 60.0) -> None:
    """Wait until this process's gateways have ended the calls whose clients have gone, up to a timeout."""
    deadline = time.monotonic() + timeout_seconds
    while time.monotonic() < deadline and is_busy():
        time.sleep(0.01)


def is_busy() -> bool:
    """Return whether a gateway of this process still works on a call."""
    return any(gateway.is_busy for gateway in _running) or _is_busy_in_background()


def _is_busy_in_background() -> bool:
    """Whether a loop that still runs has tasks; those that a closed one left behind never end."""
    return any(task.get_loop().is_running() for task in background._running.copy())


class RunningGateway:
    """A server of this process in a thread with its own event loop, as a context manager.

    It serves the gateway's application, or another.
    """

    def __init__(self, application: Any = None) -> None:
        if application is None:
            from gateway.asgi import application

        config = uvicorn.Config(
            application,
            host="127.0.0.1",
            port=0,
            loop="uvloop",
            http="gateway.server.protocol:Bounded",
            ws="gateway.server.sockets:BoundedSocket",
            log_level="warning",
            access_log=False,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, name="gateway", daemon=True)

    @property
    def port(self) -> int:
        """Return the port that it listens on."""
        return int(self._server.servers[0].sockets[0].getsockname()[1])

    @property
    def origin(self) -> str:
        """Return the address that a test connects to; proofs name the configured base URL."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def is_busy(self) -> bool:
        """Whether it serves a request now."""
        return bool(self._server.server_state.tasks)

    def __enter__(self) -> Self:
        self._thread.start()
        while not self._server.started:
            assert self._thread.is_alive(), "the server did not start"
            time.sleep(0.01)
        _running.add(self)
        return self

    def __exit__(self, *exc: object) -> None:
        _running.discard(self)
        self._server.should_exit = True
        self._thread.join(timeout=120)
        assert not self._thread.is_alive(), "the server did not stop"
