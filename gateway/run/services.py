"""Defines a gateway's processes other than its database, and how each is started."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gateway.run.options import Options

DRAIN_SECONDS = 10
SANDBOX_RUNS_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Service:
    """A child process that runs as long as the gateway does."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    file_descriptors: tuple[int, ...] = ()


def services(options: Options, listener: int, environment: Mapping[str, str]) -> list[Service]:
    """Return the ASGI server on the socket `listener`, the Celery worker and the scheduler."""
    return [
        Service("server", _server(options, listener), environment, (listener,)),
        Service("worker", _worker("celery", 2), environment),
        Service("beat", _beat(options.data_dir), environment),
    ]


def sandbox(environment: Mapping[str, str]) -> Service:
    """Return the Celery worker for sandbox runs."""
    return Service("sandbox", _worker("sandbox", SANDBOX_RUNS_AT_ONCE), environment)


def _server(options: Options, listener: int) -> tuple[str, ...]:
    """Return uvicorn's command line.

    The supervisor owns the socket, so that a restarted server takes over the waiting connections. Proxies are handled
    by the application (TRUSTED_PROXIES): uvicorn by itself would trust every process of this machine.
    """
    flags = {
        "--fd": str(listener),
        "--workers": str(options.workers),
        "--loop": "uvloop",
        "--http": "gateway.server.protocol:Bounded",
        "--ws": "gateway.server.sockets:BoundedSocket",
        "--log-level": "warning",
        "--timeout-graceful-shutdown": str(DRAIN_SECONDS),
    }
    arguments = [part for pair in flags.items() for part in pair]
    return (
        sys.executable,
        "-m",
        "uvicorn",
        "gateway.asgi:application",
        "--no-access-log",
        "--no-proxy-headers",
        *arguments,
    )


def _worker(queue: str, concurrency: int) -> tuple[str, ...]:
    """Return a Celery worker's command line; it uses threads, because its tasks wait for the database and other
    services."""
    flags = ("--pool=threads", f"--queues={queue}", f"--concurrency={concurrency}", "--loglevel=warning")
    return (
        *_celery("-W", "ignore:You're running the worker"),
        "worker",
        *flags,
        "--without-gossip",
        "--without-mingle",
        "--without-heartbeat",
    )


def _beat(data_dir: Path) -> tuple[str, ...]:
    """Return the scheduler's command line; it stores the times of the last tasks in the data directory."""
    return (*_celery(), "beat", "--loglevel=warning", f"--schedule={data_dir / 'celery' / 'schedule'}", "--pidfile=")


def _celery(*python_flags: str) -> tuple[str, ...]:
    return (sys.executable, *python_flags, "-m", "celery", "--app=gateway.celery", "--quiet")
