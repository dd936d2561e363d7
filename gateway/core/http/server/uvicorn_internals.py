"""All that the gateway uses of uvicorn beyond its documentation, which any release may change (docs/decisions/0065).

The protocols are thin. What is done differently is in their subclasses (`protocol`, `sockets`), which override only the hooks, and
methods that asyncio and httptools document.
"""

import asyncio
import os
import socket
from types import MethodType
from typing import Any

from httptools import HttpRequestParser
from uvicorn import Server
from uvicorn.config import STARTUP_FAILURE
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware, _TrustedHosts
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from uvicorn.supervisors import Multiprocess
from websockets.frames import Frame
from websockets.server import ServerProtocol

STARTUP_FAILED = STARTUP_FAILURE
"""The exit code after which the parent of several workers stops."""


class HttpProtocol(HttpToolsProtocol):
    """One HTTP connection. The newest request is the one whose head was parsed last; the running one may be before it."""

    client: tuple[str, int] | None
    headers: list[tuple[bytes, bytes]]
    loop: asyncio.AbstractEventLoop
    parser: HttpRequestParser
    scope: Any
    server_state: ServerState
    timeout_keep_alive: int
    transport: asyncio.Transport
    url: bytes

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._running: RequestResponseCycle | None = None

    def handle_websocket_upgrade(self) -> None:
        """Hook: pass the connection to the WebSocket protocol."""
        super().handle_websocket_upgrade()

    def send_400_response(self, msg: str) -> None:
        """Hook: refuse what cannot be parsed, and close the connection."""
        super().send_400_response(msg)

    def on_response_complete(self) -> None:
        """Hook: a response was sent. Starts the next request in the queue."""
        super().on_response_complete()

    def shutdown(self) -> None:
        """Hook: the server stops. Closes the connection, after the response if there is a request."""
        super().shutdown()

    @property
    def queued_requests(self) -> int:
        """Return how many requests wait for the running one."""
        return len(self.pipeline)

    @property
    def is_busy(self) -> bool:
        """Return whether the newest request is not yet fully answered."""
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def has_begun_answer(self) -> bool:
        """Return whether the newest request has a response, of which a part was sent."""
        return self.cycle.response_started

    @property
    def has_whole_body(self) -> bool:
        """Return whether the body of the newest request has arrived."""
        return not self.cycle.more_body

    @property
    def owes_continue(self) -> bool:
        """Return whether the newest request's client waits for a 100 (Continue) before it sends the body."""
        return self.cycle.waiting_for_100_continue

    @property
    def is_handshake(self) -> bool:
        """Return whether the head that was just parsed is a WebSocket handshake."""
        return bool(self.parser.should_upgrade() and self._should_upgrade())

    def end_after_answer(self) -> None:
        """Have the connection closed after the response to the newest request."""
        self.cycle.keep_alive = False

    def answer_through(self, writer: Any) -> None:
        """Have the response to the newest request written to `writer`, which has a transport's methods."""
        self.cycle.transport = writer

    def disconnect_running(self) -> None:
        """Tell the running request that its client has left."""
        if self._running is not None and not self._running.response_complete:
            self._running.disconnected = True
            self._running.message_event.set()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)


class SocketProtocol(WebSocketsSansIOProtocol):
    """One WebSocket connection. `conn` parses and builds its frames, `queue` has the messages that the application may take."""

    close_sent: bool
    close_timer: asyncio.TimerHandle | None
    conn: ServerProtocol
    frames: list[bytes]
    handshake_complete: bool
    loop: asyncio.AbstractEventLoop
    queue: asyncio.Queue[Any]
    read_paused: bool
    transport: asyncio.Transport

    async def receive(self) -> Any:
        """Hook: return the next message to the application."""
        return await super().receive()

    def shutdown(self) -> None:
        """Hook: the server stops."""
        super().shutdown()

    def handle_events(self) -> None:
        """Hook: handle the frames that were parsed."""
        super().handle_events()

    def handle_cont(self, event: Frame) -> None:
        """Hook: add a fragment to the message in `frames`."""
        super().handle_cont(event)

    def handle_ping(self) -> None:
        """Hook: send a pong."""
        super().handle_ping()

    def handle_parser_exception(self) -> None:
        """Hook: close the connection after something that is not a frame."""
        super().handle_parser_exception()

    @property
    def parsed_frames(self) -> int:
        """Return how many frames were parsed and are not yet handled."""
        return len(self.conn.events)


class TrustedHosts(_TrustedHosts):
    """The networks of trusted proxies. Its two methods are hooks."""

    def get_trusted_client_address(self, x_forwarded_for: str) -> tuple[str, int]:
        """Hook: return the last address and port that no trusted proxy has."""
        return super().get_trusted_client_address(x_forwarded_for)


def with_proxies(application: Any, hosts: TrustedHosts) -> Any:
    """Wrap the application to honor `X-Forwarded-For` and `X-Forwarded-Proto` from these hosts."""
    wrapped = ProxyHeadersMiddleware(application)
    wrapped.trusted_hosts = hosts
    return wrapped


def status_line(status: int) -> bytes:
    """Return the first line of a response."""
    return STATUS_LINE[status]


def is_waiting_for_handshake(transport: asyncio.Transport) -> bool:
    """Return whether a connection was passed to a WebSocket protocol that could not yet read the handshake."""
    return not getattr(transport.get_protocol(), "handshake_initiated", False)


def server_of(handler: object) -> Server | None:
    """Return the server whose handler of a signal this is, if it is uvicorn's."""
    owner = handler.__self__ if isinstance(handler, MethodType) else None
    return owner if isinstance(owner, Server) else None


def stop(server: Server, signal_number: int, within_seconds: float) -> None:
    """Stop a server as its own handler of a signal does. Open responses may take so long."""
    server.config.timeout_graceful_shutdown = within_seconds  # type: ignore[assignment]
    server.handle_exit(signal_number, None)


def close_port(server: Server) -> None:
    """Stop listening, and serve the connections that the system has accepted: closing a port resets them, with what their
    clients have sent. Repeating changes nothing."""
    for listener in server.servers:
        for each in listener.sockets:
            with socket.socket(fileno=os.dup(each.fileno())) as waiting:
                _serve_waiting(server, waiting)
        listener.close()


def _serve_waiting(server: Server, waiting: socket.socket) -> None:
    loop, config = asyncio.get_running_loop(), server.config

    def protocol() -> Any:
        made_of = {"config": config, "server_state": server.server_state, "app_state": server.lifespan.state}
        return config.http_protocol_class(**made_of, _loop=loop)  # type: ignore[call-arg]

    while True:
        try:
            connection, _ = waiting.accept()
        except OSError:  # there is none, or no descriptor for it
            return
        connection.setblocking(False)
        serving = loop.create_task(_connected(loop, protocol, connection))
        server.server_state.tasks.add(serving)
        serving.add_done_callback(server.server_state.tasks.discard)


async def _connected(loop: asyncio.AbstractEventLoop, protocol: Any, connection: socket.socket) -> None:
    await loop.connect_accepted_socket(protocol, connection)


def serve_in_workers(config: Any, sockets: Any) -> None:
    """Serve in several processes, which are restarted if they end, until a signal."""
    Multiprocess(config, sockets=sockets).run()
