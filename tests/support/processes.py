"""Runs a gateway in a process of its own, on the tests' database."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.db import connection

from tests.support.upstream import closed_port

START_SECONDS = 60.0


def database_url(port: int | None = None) -> str:
    """Name the tests' database, by way of another port where one is given."""
    at = connection.settings_dict
    return f"postgresql://{at['USER']}:{at['PASSWORD']}@{at['HOST']}:{port or at['PORT']}/{at['NAME']}"


@contextmanager
def gateway_process(
    module: str = "tests.faults.mortal_server", arguments: Sequence[str] = (), **environment: str
) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """Run `python -m module`, told its port by PORT and by "{port}" in its arguments; give its origin and process."""
    port = closed_port()
    command = [sys.executable, "-m", module, *(argument.format(port=port) for argument in arguments)]
    variables = {**os.environ, "DATABASE_URL": database_url(), "PORT": str(port), **environment}
    server = subprocess.Popen(command, env=variables)
    try:
        until = time.monotonic() + START_SECONDS
        while not _listens(port):
            assert server.poll() is None, "the server did not start"
            assert time.monotonic() < until, "the server did not come up"
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}", server
    finally:
        server.kill()
        server.wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
