"""Handles the signals that stop a server process, in place of uvicorn.

After SIGTERM, requests are still served for DRAIN_NOTICE_SECONDS, while `/readyz` says that there should be no
more. Then the port is closed. SIGINT closes it at once: whoever presses Ctrl-C has no load balancer that needs notice. What is open
then has DRAIN_SECONDS to end, and is cut after that. A second signal ends the process at once, except for a worker: it often gets two, one sent to its whole group and one from its parent.
"""

import asyncio
import multiprocessing
import os
import signal
import threading
from types import FrameType

from django.conf import settings
from uvicorn import Server

from gateway.core.http.draining import drain_of_loop
from gateway.core.http.server.uvicorn_internals import close_port, server_of, stop

SIGNALS = (signal.SIGINT, signal.SIGTERM)

LINGER_SECONDS = 0.5
"""How long connections without a request stay open when the port is closed. A proxy that has just connected may have sent one."""

CUT_SECONDS = 8.0
"""How long responses that were cut may take to be charged and sent. Sessions wait for their usage first, for up to
five seconds. After this, they are cancelled."""


class Stop:
    """The handler of the signals of one server."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._loop = asyncio.get_running_loop()
        self._has_begun = False

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Begin to stop, or end at once."""
        if self._has_begun:
            if multiprocessing.parent_process():
                return
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        self._has_begun = True
        self._loop.call_soon_threadsafe(self._begin, number)

    def _begin(self, number: int) -> None:
        notice_seconds = 0.0 if number == signal.SIGINT else settings.DRAIN_NOTICE_SECONDS
        drain_of_loop().begin(min(notice_seconds, LINGER_SECONDS))
        self._loop.call_later(notice_seconds, self._close_port, number)

    def _close_port(self, number: int) -> None:
        drain_of_loop().end_soon()
        close_port(self._server)
        stop(self._server, number, settings.DRAIN_SECONDS + CUT_SECONDS)


def handle_signals() -> None:
    """Replace uvicorn's handlers, if this is uvicorn, and not in a thread, where there are none."""
    if threading.current_thread() is not threading.main_thread():
        return
    server = server_of(signal.getsignal(signal.SIGTERM))
    if server is not None:
        ours = Stop(server)
        for number in SIGNALS:
            signal.signal(number, ours.handle)
