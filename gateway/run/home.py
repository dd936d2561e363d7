"""A gateway's data directory: created, locked, and found again by later starts."""

import base64
import fcntl
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from gateway.run.environment import RUN_FILE, SANDBOX_MARK, SECRETS_FILE
from gateway.run.errors import StartError
from gateway.run.files import read_json, write_json
from gateway.run.leftovers import end_leftovers, identify
from gateway.run.patience import Patience

FOLDERS = ("celery/messages", "celery/control", "static")


class Home:
    """A data directory on which only this process may run a gateway."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def secrets(self) -> dict[str, str]:
        """Return the development secrets of this directory, created at the first call."""
        path = self.path / SECRETS_FILE
        known = read_json(path)
        made = {
            "SECRET_KEY": secrets.token_urlsafe(48),
            "FIELD_ENCRYPTION_KEYS": base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
        }
        if not made.keys() <= known.keys():
            known = {**made, **known}
            write_json(path, known)
        return {name: str(value) for name, value in known.items()}

    def wants_sandbox(self) -> bool:
        """Return whether a worker for sandbox runs is needed."""
        return (self.path / SANDBOX_MARK).exists()

    def record(self, addresses: Mapping[str, str], children: Mapping[str, int]) -> None:
        """Record the addresses for other shells, and the children that the next start has to end if this process is
        killed."""
        processes = {name: {"pid": pid, "started": identify(pid)} for name, pid in children.items()}
        write_json(self.path / RUN_FILE, {**addresses, "children": processes})


@contextmanager
def occupy(path: Path, patience: Patience) -> Iterator[Home]:
    """Create the data directory and hold its lock. Raises StartError if that is not possible, Stopped."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StartError(f"Cannot write to the data directory {path}: {error.strerror}; set DATA_DIR.") from error
    try:
        _take(lock, path)
        for folder in FOLDERS:
            (path / folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        end_leftovers(read_json(path / RUN_FILE).get("children", {}), patience)
        yield Home(path)
    finally:
        os.close(lock)


def _take(lock: int, path: Path) -> None:
    """Take the lock, which the kernel releases whenever and however this process ends."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        owner = os.read(lock, 32).decode(errors="replace").strip() or "unknown"
        raise StartError(f"A gateway is already running on {path} (process {owner}); set another DATA_DIR.") from error
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
