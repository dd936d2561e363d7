"""`python -m gateway.metrics`: serves /metrics for all processes of this machine, at METRICS_ADDRESS.

It is a process of its own, so that a scrape delays no call, and is answered where no server or worker runs.
"""

import argparse
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import django
from django.conf import settings
from uvicorn import Config, Server

from gateway.core.runtime.startup import load_settings
from gateway.run.errors import StartError
from gateway.run.ports import listen


def main(arguments: list[str]) -> int:
    """Serve until a signal. Return 1 after one line on standard error."""
    parser = argparse.ArgumentParser(prog="python -m gateway.metrics")
    parser.add_argument("--fd", type=int, action="append", default=[], help="a listening socket; may be repeated")
    numbers = parser.parse_args(arguments).fd
    load_settings()
    try:
        with _listening(numbers) as sockets, suppress(KeyboardInterrupt):
            _serve(sockets)
    except StartError as error:
        sys.stderr.write(f"gateway: {error}\n")
        return 1
    return 0


@contextmanager
def _listening(numbers: Sequence[int]) -> Iterator[list[socket.socket]]:
    """Listen at METRICS_ADDRESS, unless a parent process does so already. Raises StartError."""
    if numbers:
        yield [socket.socket(fileno=number) for number in numbers]
        return
    if settings.METRICS_ADDRESS is None:
        raise StartError("Set METRICS_ADDRESS to a host and a port such as 127.0.0.1:9100.")
    with listen(*settings.METRICS_ADDRESS, setting="METRICS_ADDRESS") as sockets:
        yield sockets


def _serve(sockets: list[socket.socket]) -> None:
    django.setup()
    from gateway.core.database.bounded import serve_jobs
    from gateway.metrics.serving import application

    serve_jobs()
    config = Config(
        application,
        http="gateway.server.protocol:Bounded",
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,
        proxy_headers=False,
    )
    Server(config).run(sockets)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
