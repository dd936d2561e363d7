"""The machine that gateways run on: its processes, and a user without privileges."""

import os
import sys
import sysconfig
from pathlib import Path

from gateway.run.identity import Identity, database_identity
from gateway.run.leftovers import identify
from gateway.run.options import PROJECT_DIR


def processes_of(data_dir: Path) -> list[int]:
    """Return every live process that has this data directory in its environment or command line."""
    needle = os.fsencode(data_dir)
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            environment = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if needle in environment and identify(int(entry.name)):
            found.append(int(entry.name))
    return found


def session_of(leader: int) -> list[int]:
    """Return every live process of a session that this process has begun, and none of those that began one of their own."""
    return [int(entry.name) for entry in Path("/proc").glob("[0-9]*") if _session(entry) == leader]


def _session(entry: Path) -> int:
    try:
        _, _, after_the_name = (entry / "stat").read_text().rpartition(")")
    except OSError:
        return 0
    state, _parent, _group, session, *_ = after_the_name.split()
    return 0 if state == "Z" else int(session)


def workers_of(server: int) -> set[int]:
    """Return the worker processes of a server: itself if it has none."""
    children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
    return {int(pid) for pid in children if b"spawn_main" in _command_of(pid)} or {server}


def _command_of(pid: str) -> bytes:
    """Return a process's command line and its name, which says of a forked one what it is; nothing if it has ended meanwhile."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes() + Path(f"/proc/{pid}/comm").read_bytes()
    except OSError:
        return b""


def plain_user() -> tuple[Identity, str] | None:
    """Return a user without privileges and a Python that it may run here, or None when there is none."""
    identity = database_identity()
    if identity is None or not identity.can_enter(PROJECT_DIR):
        return None
    pythons = (sys.executable, f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}")
    python = next((path for path in pythons if Path(path).exists() and identity.can_enter(Path(path))), None)
    return (identity, python) if python and identity.can_enter(site_packages()) else None


def site_packages() -> Path:
    """Return where the requirements are installed."""
    return Path(sysconfig.get_path("purelib"))
