"""`python -m gateway.server --fd N …`: serves on sockets on which the parent process listens.

This is uvicorn's command with the gateway's settings, for several sockets: `localhost` has an address of either IP version.
Proxies are handled by the application (TRUSTED_PROXIES): uvicorn by itself would trust every process of this machine.
"""

import argparse
import os
import socket
import sys
from contextlib import suppress
from typing import Any

from uvicorn import Config, Server

from gateway.core.contract.log_lines import JSON
from gateway.core.http.server.uvicorn_internals import STARTUP_FAILED, serve_in_workers

WORKER_ANSWER_SECONDS = 30
"""How long a worker may take to answer its parent, which then kills it. Interpreters that start on a busy machine take longer
than uvicorn's default of 5 seconds."""


def main(arguments: list[str]) -> int:
    """Serve until a signal; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m gateway.server")
    parser.add_argument("--fd", type=int, action="append", required=True, help="a listening socket; may be repeated")
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args(arguments)
    sockets = [socket.socket(fileno=number) for number in options.fd]
    with suppress(KeyboardInterrupt):
        return _serve(_config(options.workers), sockets)
    return 0


def _config(workers: int) -> Config:
    return Config(
        "gateway.asgi:application",
        workers=workers,
        timeout_worker_healthcheck=WORKER_ANSWER_SECONDS,
        loop="uvloop",
        http="gateway.server.protocol:Bounded",
        ws="gateway.server.sockets:BoundedSocket",
        log_level="warning",
        **_logging(),
        access_log=False,
        proxy_headers=False,
    )


def _logging() -> dict[str, Any]:
    """Return uvicorn's options for how this process logs before, or without, the settings: as the parent of workers."""
    if os.environ.get("LOG_FORMAT") != JSON:
        return {}
    config = {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {JSON: {"()": "gateway.core.runtime.json_logs.JsonFormatter"}},
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": JSON}},
        "root": {"handlers": ["console"], "level": "WARNING"},
    }
    return {"log_config": config}


def _serve(config: Config, sockets: list[socket.socket]) -> int:
    """Serve in this process, or in several that are restarted if they end."""
    if config.workers > 1:
        serve_in_workers(config, sockets)
        return 0
    config.load_app()
    server = Server(config)
    server.run(sockets)
    return 0 if server.started else STARTUP_FAILED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
