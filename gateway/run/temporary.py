"""`python -m gateway.run.temporary COMMAND ...`: runs a command with a temporary, empty PostgreSQL."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gateway.run.errors import StartError
from gateway.run.identity import database_identity
from gateway.run.postgres import Cluster

PLACES = (tempfile.gettempdir(), "/tmp", "/var/tmp")  # noqa: S108 - each use makes its own directory there
PASS_THROUGH = 0o711


def make_home(prefix: str = "gateway-") -> Path:
    """Return a new temporary directory that the database's user can enter. The caller removes it."""
    identity = database_identity()
    place = next((place for place in PLACES if identity is None or identity.can_enter(Path(place))), PLACES[0])
    home = Path(tempfile.mkdtemp(prefix=prefix, dir=place))
    home.chmod(PASS_THROUGH)
    return home


@contextmanager
def temporary_cluster() -> Iterator[Cluster]:
    """Run an empty database whose data need not survive a crash."""
    home = make_home()
    cluster = Cluster(home, durable=False)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
        shutil.rmtree(home, ignore_errors=True)


def main(command: list[str]) -> int:
    """Run `command` with DATABASE_URL and its own empty DATA_DIR; return its exit code."""
    try:
        with temporary_cluster() as cluster:
            environment = {**os.environ, "DATABASE_URL": cluster.url, "DATA_DIR": str(cluster.home)}
            return subprocess.run(command, env=environment, check=False).returncode
    except StartError as error:
        print(f"gateway: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
