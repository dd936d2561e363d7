"""What is sampled: memory, descriptors and threads of each process, rows and bytes of each table."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import psutil

from tests.chaos.database import Connection
from tests.soak.installation import SoakInstallation

TABLES = """
SELECT s.relname, s.n_live_tup, pg_total_relation_size(s.relid) FROM pg_stat_user_tables s ORDER BY s.relname
"""
CALLS = "billing_reservation"


@dataclass(frozen=True, slots=True)
class Held:
    """What one process holds."""

    memory_bytes: int
    descriptors: int
    threads: int


@dataclass(frozen=True, slots=True)
class Size:
    """The rows of a table by the server's statistics, and its bytes with indexes."""

    rows: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Sample:
    """Everything at one moment, in seconds since the start of the load."""

    at: float
    processes: Mapping[str, Held]
    tables: Mapping[str, Size]

    @property
    def calls(self) -> int:
        """Return the number of calls in the ledger."""
        return self.tables[CALLS].rows


class Sampler:
    """Takes samples of one installation."""

    def __init__(self, installation: SoakInstallation) -> None:
        self._installation = installation
        self._began = time.monotonic()

    def take(self) -> Sample:
        """Take a sample now."""
        at = time.monotonic() - self._began
        processes = dict(_processes(self._installation.processes()))
        with self._installation.database.connect() as connection:
            return Sample(at, processes, _tables(connection))


def _processes(services: Mapping[str, int]) -> Iterator[tuple[str, Held]]:
    """Yield each service and its children, which are numbered by age, with what they hold."""
    for name, pid in services.items():
        process = psutil.Process(pid)
        yield name, _held(process)
        children = sorted(process.children(recursive=True), key=lambda child: (child.create_time(), child.pid))
        for number, child in enumerate(children, 1):
            try:
                yield f"{name}, child {number}", _held(child)
            except psutil.NoSuchProcess:  # one that ran for a moment
                continue


def _held(process: psutil.Process) -> Held:
    with process.oneshot():
        return Held(int(process.memory_info().rss), process.num_fds(), process.num_threads())


def _tables(connection: Connection) -> dict[str, Size]:
    return {name: Size(int(rows), int(size)) for name, rows, size in connection.execute(TABLES)}
