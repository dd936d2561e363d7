"""Servers of the gateway on a primary and its standby."""

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from tests.support import plain_http
from tests.support.processes import ServerProcess
from tests.support.replicated import Replicated

LOST = re.compile(r"(use_\w+): the database lost this call of account (\S+), charged (\d+) micro-USD")


@pytest.fixture(scope="module")
def pair(django_db_setup: None, django_db_blocker: Any) -> Iterator[Replicated]:
    """Run the two servers, and make Django use whichever is the primary."""
    with (
        django_db_blocker.unblock(),
        Replicated() as pair,
        django_at([pair.primary, pair.standby], USER="gateway", PASSWORD=pair.password),
    ):
        connection.ensure_connection()  # its history begins while the standby is there
        yield pair


@contextmanager
def django_at(ports: Sequence[int], **other: str) -> Iterator[None]:
    """Make Django use whichever of these servers is the primary."""
    at, connect = connection.settings_dict, dict(connection.settings_dict)
    disconnect_django()
    at |= {"HOST": ",".join(["127.0.0.1"] * len(ports)), "PORT": ",".join(map(str, ports)), "NAME": "gateway", **other}
    at["OPTIONS"] = {**at["OPTIONS"], "target_session_attrs": "read-write"}
    try:
        yield
    finally:
        disconnect_django()
        at.update(connect)


def disconnect_django() -> None:
    """Make Django connect again, with the settings as they are then."""
    wrapper: Any = connection
    wrapper.close()
    wrapper.close_pool()


class Node(ServerProcess):
    """A server with a data directory of its own, as on a machine of its own."""

    def __init__(self, pair: Replicated, data_dir: Path) -> None:
        super().__init__(settings={"DATABASE_URL": pair.url, "DJANGO_SETTINGS_MODULE": "gateway.settings.test"})
        self.settings["DATA_DIR"] = str(data_dir)
        self.settings["PORT"] = str(self.port)
        self.command = (sys.executable, "-m", "tests.faults.crashing_server")

    @property
    def lost(self) -> set[tuple[str, str, int]]:
        """Return the calls that it has named as lost: id, account and charge."""
        return {(usage_id, did, int(charge)) for usage_id, did, charge in LOST.findall(self.log)}

    def why(self) -> tuple[int, str | None]:
        """Return the status of GET /readyz, and why the node is not ready; 0 while GET /healthz answers something else."""
        one, other = (
            plain_http.request("GET", f"{self.base_url}/{path}", timeout=30) for path in ("readyz", "healthz")
        )
        is_same = (one.status_code, one.json()) == (other.status_code, other.json())
        return one.status_code if is_same else 0, one.json().get("reason")

    def healthz(self) -> int:
        """Return the status of GET /healthz."""
        return plain_http.request("GET", f"{self.base_url}/healthz", timeout=30).status_code
