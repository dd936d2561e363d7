"""Creates a PostgreSQL data directory atomically, and recovers one after a crash."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gateway.run.binaries import Binaries
from gateway.run.children import spawn, stop
from gateway.run.errors import StartError
from gateway.run.files import read_text
from gateway.run.identity import Identity
from gateway.run.patience import Patience

SUPERUSER = "gateway"
ORPHAN_GRACE_SECONDS = 20.0
GIVE_UP_SECONDS = 5.0
NEW_CLUSTER_BYTES = 256 * 1024 * 1024
"""The free space that a new data directory needs: its files, and PostgreSQL's first logs."""
# `postgres.py` parses messages, so their language is fixed.
LOCALE = {"LC_ALL": "C", "LANG": "C", "TZ": "UTC"}
HUGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
"""A backend's own memory uses huge pages if Linux has them (glibc 2.35), which takes 4 % less of its time per call."""


@dataclass(frozen=True, slots=True)
class DataDirectory:
    """One cluster's files. `path` exists only once `initdb` has finished."""

    path: Path
    identity: Identity | None

    @property
    def major(self) -> int | None:
        """Return the major version of the data, or None if there is none yet."""
        version = read_text(self.path / "PG_VERSION")
        return int(version) if version else None

    def create(self, binaries: Binaries, password: str, patience: Patience, *, durable: bool) -> None:
        """Run `initdb` in a temporary directory and rename it, so that an interrupted run leaves nothing that looks
        complete."""
        self._remove_unfinished()
        self._check_space()
        temporary = Path(tempfile.mkdtemp(prefix=f"{self.path.name}.new-", dir=self.path.parent))
        with tempfile.NamedTemporaryFile("w", dir=self.path.parent, prefix=f"{self.path.name}.new-") as secret:
            secret.write(password)
            secret.flush()
            for path in (temporary, Path(secret.name)):
                if self.identity:
                    self.identity.own(path)
            self._initdb(binaries, temporary, secret.name, patience, durable=durable)
        temporary.rename(self.path)

    def _check_space(self) -> None:
        """Refuse a disk that is about to be full: what fails then depends on who writes first."""
        free_bytes = shutil.disk_usage(self.path.parent).free
        if free_bytes < NEW_CLUSTER_BYTES:
            free, needed = free_bytes // 2**20, NEW_CLUSTER_BYTES // 2**20
            raise StartError(f"Only {free} MiB are free for {self.path}, and a new database needs {needed}.")

    def _initdb(
        self, binaries: Binaries, target: Path, password_file: str, patience: Patience, *, durable: bool
    ) -> None:
        command = [binaries.program("initdb"), "-D", str(target), "-U", SUPERUSER, f"--pwfile={password_file}"]
        command += ["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--data-checksums", "--no-instructions"]
        command += [] if durable else ["--no-sync"]
        with tempfile.TemporaryFile() as messages:
            environment = self.environment(os.environ)
            child = spawn(command, environment=environment, output=messages, identity=self.identity)
            try:
                while child.poll() is None:
                    patience.check("creating the database's files")
                    time.sleep(0.02)
            except BaseException:
                stop(child, signal.SIGTERM, GIVE_UP_SECONDS)  # SIGINT is ignored in a background job of a shell
                _remove(target)  # whole or not: nothing will use it
                raise
            messages.seek(0)
            text = messages.read().decode(errors="replace")
        if child.returncode:
            _remove(target)
            raise StartError(f"initdb failed: {_reason(text)}")

    def environment(self, outer: Mapping[str, str]) -> dict[str, str]:
        """Return the environment of PostgreSQL's programs, without our PG* variables, which would configure them."""
        return {"PATH": outer.get("PATH", os.defpath), **LOCALE, **HUGE_PAGES}

    def _remove_unfinished(self) -> None:
        """Remove what an interrupted `initdb` left."""
        for path in self.path.parent.glob(f"{self.path.name}.new-*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def clear_orphan(self) -> None:
        """Stop a server that outlived its supervisor, and remove a lock file whose process has ended.

        The caller holds the lock of the data directory, so no other gateway may run a server on it.
        """
        lock = self.path / "postmaster.pid"
        content = read_text(lock)
        if content and self._is_server(pid := int(content.splitlines()[0])):
            self._end(pid)
        # Another process may have the number by now, which PostgreSQL would mistake for a live server. It refuses an empty
        # file too, which a server leaves that is killed before it has written its number.
        lock.unlink(missing_ok=True)

    def _is_server(self, pid: int) -> bool:
        """Return whether process `pid` is a server on this directory: its working directory is the data directory, or, on
        systems without /proc, its command line names it."""
        try:
            return Path(f"/proc/{pid}/cwd").resolve(strict=True) == self.path.resolve()
        except OSError:
            return not Path("/proc/self").exists() and f"-D {self.path} " in _command_line(pid)

    def _end(self, pid: int) -> None:
        """Stop an orphaned server at once without losing committed data."""
        deadline = time.monotonic() + ORPHAN_GRACE_SECONDS
        os.kill(pid, signal.SIGINT)
        while self._is_server(pid):
            if time.monotonic() > deadline:
                raise StartError(f"A PostgreSQL server (process {pid}) is still running on {self.path}; stop it first.")
            time.sleep(0.05)


def _remove(folder: Path) -> None:
    """Remove a folder that a process which is about to end may still write to."""
    deadline = time.monotonic() + GIVE_UP_SECONDS
    while folder.exists() and time.monotonic() < deadline:
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(0.02)


def _command_line(pid: int) -> str:
    """Return the command line of a process, as `ps` shows it; nothing if it has ended."""
    command = ["ps", "-ww", "-o", "command=", "-p", str(pid)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def _reason(text: str) -> str:
    """Return the first error of `initdb`, which is followed by what it cleans up, otherwise its last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = (line for line in lines if re.search(r"\b(?:error|FATAL|PANIC): ", line))
    return next(errors, lines[-1] if lines else "no message")
