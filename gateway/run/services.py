"""Defines a gateway's processes other than its database, and how each is started."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gateway.run.options import Options

SANDBOX_RUNS_AT_ONCE = 4
SERVER = "server"


@dataclass(frozen=True, slots=True)
class Service:
    """A child process that runs as long as the gateway does."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    file_descriptors: tuple[int, ...] = ()


def services(options: Options, listeners: Sequence[int], environment: Mapping[str, str]) -> list[Service]:
    """Return those wanted of the ASGI server on the sockets `listeners`, the Celery worker and the scheduler, in this order."""
    every = [
        Service(SERVER, _server(options, listeners), environment, tuple(listeners)),
        Service("worker", _worker("celery", 2), environment),
        Service("beat", _beat(options.data_dir), environment),
    ]
    return [service for service in every if service.name in options.parts]


def payments(port: int, state: Path, options: Options, environment: Mapping[str, str]) -> Service:
    """Return the stand-in of a payment provider, which keeps its records in the file `state`."""
    command = (sys.executable, "-m", "tests.support.stripe", "--port", str(port), "--gateway", options.base_url)
    return Service("payments", (*command, "--state", str(state), "--quiet"), environment)


def sandbox(environment: Mapping[str, str]) -> Service:
    """Return the Celery worker for sandbox runs."""
    return Service("sandbox", _worker("sandbox", SANDBOX_RUNS_AT_ONCE), environment)


def metrics(listeners: Sequence[int], environment: Mapping[str, str]) -> Service:
    """Return the process that serves the metrics of all others on the sockets `listeners`."""
    command = (sys.executable, "-m", "gateway.metrics", *_sockets(listeners))
    return Service("metrics", command, environment, tuple(listeners))


def _server(options: Options, listeners: Sequence[int]) -> tuple[str, ...]:
    """Return the server's command line.

    The supervisor owns the sockets, so that a restarted server takes over the waiting connections.
    """
    return (sys.executable, "-m", "gateway.server", *_sockets(listeners), "--workers", str(options.workers))


def _sockets(listeners: Sequence[int]) -> list[str]:
    return [part for number in listeners for part in ("--fd", str(number))]


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
