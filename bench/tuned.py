"""A database with the settings of docs/scale.md in a directory that may be kept, and the processor time that it has taken."""

import contextlib
from pathlib import Path

import psutil

from gateway.run.postgres import Cluster

TUNED = {"shared_buffers": "4GB", "effective_cache_size": "12GB", "max_wal_size": "16GB", "work_mem": "16MB"}
"""The memory of a database on a machine of 16 GB; all else is as the gateway starts it."""


class Postmaster:
    """The running server in a data directory, whoever started it."""

    def __init__(self, home: Path) -> None:
        self._process = psutil.Process(int((home / "postgres" / "postmaster.pid").read_text().split()[0]))

    def processor_seconds(self) -> float:
        """Return the processor time of all its processes so far, including those that have ended."""
        return sum(map(_processor_seconds, (self._process, *self._process.children())))


class TunedDatabase:
    """A started server in a directory. `is_new` says that the directory was empty, so the database has no tables."""

    def __init__(self, home: Path) -> None:
        home.mkdir(parents=True, exist_ok=True)
        home.chmod(0o755)
        self.home = home
        self.is_new = not any(home.iterdir())
        self._cluster = Cluster(home, settings=TUNED)
        self.url = self._cluster.start()
        self.postmaster = Postmaster(home)

    def close(self) -> None:
        """Stop the server; its files stay."""
        self._cluster.stop()


def _processor_seconds(process: psutil.Process) -> float:
    """Return what a process took, and its children that have ended, which count nowhere else."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return float(sum(process.cpu_times()[:4]))
    return 0.0
