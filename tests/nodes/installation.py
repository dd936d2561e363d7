"""The installation of a run: a database, a fake upstream, and nodes."""

import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import psutil

from bench.servers import LOOPBACK
from gateway.run.options import Options
from gateway.run.ports import listen
from gateway.run.services import Service, services
from tests.chaos.installation import Installation
from tests.support.concurrency import eventually

PARTS = ("server", "worker", "beat")
POOL = "3"
"""Connections of each pool: what many nodes need together is what PostgreSQL allows."""


class Nodes(Installation):
    """All processes, as a context manager. `gateways` are the addresses of the nodes' servers by the node's name."""

    def __init__(self, nodes: int, furnish: Callable[[Path], None]) -> None:
        self.max_connections = 50 + 20 * nodes
        super().__init__(nodes, 1, furnish)

    def journals(self, node: str) -> Path:
        """Return the folder of a node's journals."""
        return self.home / node / "journal"

    def kill_parts(self, node: str, parts: Sequence[str]) -> Mapping[str, int]:
        """Kill processes of a node at once; return the process ids of those that ran."""
        running = self._supervisor.pids()
        killed = {part: running[name] for part in parts if (name := _name(node, part)) in running}
        for pid in killed.values():
            os.kill(pid, signal.SIGKILL)
        eventually(lambda: all(map(_has_ended, killed.values())))
        return killed

    def await_successors(self, node: str, killed: Mapping[str, int]) -> None:
        """Wait until the supervisor has replaced them."""
        for part, pid in killed.items():
            eventually(partial(self._is_replaced, _name(node, part), pid))

    def _is_replaced(self, name: str, pid: int) -> bool:
        return self._supervisor.pids().get(name, pid) != pid

    def _services(self) -> Sequence[Service]:
        return [service for node, port in self._ports.items() for service in self._node(node, port)]

    def _node(self, node: str, port: int) -> list[Service]:
        """Return the processes of a node; the server is named like it."""
        data_dir = self.home / node
        for name in ("messages", "control"):
            (data_dir / "celery" / name).mkdir(parents=True)
        environment = {**self._environment, "DATA_DIR": str(data_dir)}
        listeners = self._stack.enter_context(listen(LOOPBACK, port))
        options = Options.read({**environment, "PORT": str(port)}, PARTS)
        found = services(options, [one.fileno() for one in listeners], environment)
        return [replace(service, name=_name(node, service.name)) for service in found]

    def _settings(self, config: Path) -> dict[str, str]:
        settings = super()._settings(config)
        for name in ("REDIS_URL", "CELERY_BROKER_URL", "CALL_JOURNAL_DIR", "METRICS_ADDRESS"):
            settings.pop(name, None)
        pools = dict.fromkeys(("SYNC_POOL_MAX_CONNECTIONS", "LEDGER_POOL_MAX_CONNECTIONS"), POOL)
        return {**settings, **pools, "STATIC_ROOT": str(self.home / "static")}


def _has_ended(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _name(node: str, part: str) -> str:
    return node if part == "server" else f"{node}-{part}"
