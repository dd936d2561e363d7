"""PgBouncer in front of the test's database, in a mode that the test chooses."""

import shutil
import signal
import socket
import subprocess
from pathlib import Path
from typing import Self

from django.db import connection

from gateway.run.identity import database_identity
from gateway.run.ports import free_port
from tests.support.concurrency import eventually
from tests.support.database import database_url, make_home

SETTINGS = """
[databases]
* = host={host} port={port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {own_port}
unix_socket_dir =
auth_type = plain
auth_file = {users}
ignore_startup_parameters = options
max_client_conn = 500
default_pool_size = {size}
pool_mode = {mode}
"""


class PgBouncer:
    """One process, as a context manager. `restart` and `reload` change its mode on the same port."""

    def __init__(self, mode: str, *, size: int = 40) -> None:
        program = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin:/usr/local/bin")
        assert program, "PgBouncer is not installed: apt-get install pgbouncer; .ci/run installs it"
        self._program, self._mode, self._size = program, mode, size
        self._home, self._port = make_home(), free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Return the database's URL through PgBouncer."""
        return database_url(self._port)

    def __enter__(self) -> Self:
        settings = self._write()
        identity = database_identity()  # it refuses to run as root, as PostgreSQL does
        self._process = subprocess.Popen(
            [self._program, "-q", str(settings)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **(identity.spawn_arguments() if identity else {}),
        )
        eventually(self._is_listening)
        return self

    def __exit__(self, *exc: object) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)  # at once, not when clients have left
        self._process.wait(30)

    def restart(self, mode: str) -> None:
        """Cut all connections, and go on in another mode."""
        self.__exit__()
        self._mode = mode
        self.__enter__()

    def reload(self, mode: str) -> None:
        """Go on in another mode with the same connections, as an operator's RELOAD does."""
        assert self._process is not None
        self._mode = mode
        self._write()
        self._process.send_signal(signal.SIGHUP)

    def _write(self) -> Path:
        at = connection.settings_dict
        users, settings = self._home / "users", self._home / "pgbouncer.ini"
        users.write_text(f'"{at["USER"]}" "{at["PASSWORD"]}"\n')
        text = SETTINGS.format(
            host=at["HOST"], port=at["PORT"], own_port=self._port, users=users, size=self._size, mode=self._mode
        )
        settings.write_text(text)
        for path in (users, settings):
            path.chmod(0o644)  # of a test's own directory
        return settings

    def _is_listening(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self._port)) == 0
