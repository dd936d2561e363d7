"""Runs the proxy on a port of this computer, in a thread of its own."""

import asyncio
import os
import secrets
import socket
import threading
from collections.abc import Callable
from contextlib import suppress

import uvicorn

from account_gateway_client.gateway import Gateway
from account_gateway_client.proxy.admission import HOST, Admission
from account_gateway_client.proxy.application import Application, CallReport
from account_gateway_client.proxy.connections import ACCEPTED_AT_ONCE, MAX_HEAD_BYTES, ToolConnection
from account_gateway_client.proxy.outcomes import Outcomes
from account_gateway_client.proxy.spending import Spending
from account_gateway_client.proxy.upstream import Upstream

SECRET_BYTES = 32
KEEP_ALIVE_SECONDS = 75
SHUTDOWN_SECONDS = 1
# How long the end waits for the charges of the last calls.
OUTCOMES_SECONDS = 3.0


class LocalProxy:
    """A proxy for the account of a Gateway. As a context manager it serves until it is left; then `spending` has the sum.

    `max_cost_microusd` is what a call may cost, `budget_microusd` what all of them may. `port` 0 takes a free one. Raises
    OSError where the port is taken, and ClientError where no way to the gateway can be set up. `on_call` is called in the proxy's thread after each metered call.
    """

    def __init__(
        self,
        gateway: Gateway,
        *,
        max_cost_microusd: int,
        budget_microusd: int | None = None,
        port: int = 0,
        on_call: Callable[[CallReport], None] = lambda _report: None,
    ) -> None:
        self.secret = secrets.token_urlsafe(SECRET_BYTES)
        self.spending = Spending(budget_microusd)
        self._upstream = Upstream(gateway)  # here, where its failure is seen: a thread's is not
        self._max_cost_microusd = max_cost_microusd
        self._on_call = on_call
        self._socket = _listening(port)
        self.port: int = self._socket.getsockname()[1]
        self._started = threading.Event()
        self._stopping: Callable[[], object] = lambda: None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="agw-proxy", daemon=True)

    @property
    def base_url(self) -> str:
        """Return what clients of messages take as base URL; those of OpenAI take it with `/v1`."""
        return f"http://{HOST}:{self.port}"

    def __enter__(self) -> "LocalProxy":
        self._thread.start()
        self._started.wait()
        return self

    def __exit__(self, *exc: object) -> None:
        self._stopping()
        self._thread.join()

    async def _serve(self) -> None:
        upstream = self._upstream
        outcomes = Outcomes(upstream, self.spending)
        application = Application(
            upstream,
            Admission(self.port, self.secret),
            self.spending,
            outcomes,
            max_cost_microusd=self._max_cost_microusd,
            on_call=self._on_call,
        )
        server = uvicorn.Server(_configuration(application))
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        loop.set_exception_handler(lambda _loop, _context: None)  # the terminal is the tool's
        self._stopping = lambda: loop.call_soon_threadsafe(stop.set)
        serving = asyncio.create_task(server.serve(sockets=[self._socket]))
        watching = asyncio.create_task(outcomes.watch())
        self._started.set()
        await stop.wait()
        await _end(server, serving)
        await outcomes.settled(OUTCOMES_SECONDS)
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching  # so that it opens no connection any more
        await upstream.close()


async def _end(server: uvicorn.Server, serving: "asyncio.Task[None]") -> None:
    """Stop the server. Tools that still wait for an answer are gone, or will not get it any more."""
    for call in list(server.server_state.tasks):
        call.cancel()
    server.should_exit = True
    with suppress(asyncio.CancelledError):
        await serving


def _listening(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # elsewhere it would let another program take the port over
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen(ACCEPTED_AT_ONCE)
    except BaseException:
        listening.close()
        raise
    return listening


def _configuration(application: Application) -> uvicorn.Config:
    return uvicorn.Config(
        application,
        loop="asyncio",
        http=ToolConnection,
        ws="none",
        lifespan="off",
        backlog=ACCEPTED_AT_ONCE,
        log_config=None,
        access_log=False,
        proxy_headers=False,  # a peer is who connects
        server_header=False,
        date_header=False,  # the gateway's own go through
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
    )
