"""The gateway under load, of this version or another, run as by an operator."""

import os
import secrets
import subprocess
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit

from cryptography.fernet import Fernet

from bench.disk import slow_disk
from bench.load import Target
from bench.processes import LOOPBACK, Process, answers
from bench.revision import Source
from bench.servers import GATEWAY_BASE_URL
from gateway.run.environment import load
from gateway.run.ports import free_port

CONNECTIONS_MAX = 4000


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    """The start options of the gateway under test. With the URL of a database it has no other, and only serves: no worker and no
    scheduler beside it takes processor time of that database."""

    workers: int
    database_pool: int
    database_url: str = ""
    has_metrics: bool = False


class GatewayServer(Process):
    """The gateway as an operator runs it: its own supervisor, database and workers, every commit flushed."""

    def __init__(self, directory: Path, config: Path, settings: GatewaySettings, source: Source) -> None:
        self.port = free_port()
        self.target = Target(LOOPBACK, self.port)
        self.data_dir = directory / "data"
        self._source = source
        self._settings = settings
        self.environment = _environment(self.port, self.data_dir, config, settings)
        super().__init__(
            [str(source.python), "-m", "gateway.run", *(("--only", "server") if settings.database_url else ())],
            log=directory / "gateway.log",
            environment=self.environment,
            is_ready=answers(f"http://{LOOPBACK}:{self.port}/healthz"),
            directory=source.directory,
        )

    @property
    def url(self) -> str:
        """Return the local address of the gateway."""
        return f"http://{LOOPBACK}:{self.port}"

    @cached_property
    def database_url(self) -> str:
        """Return the URL of the run's own database, which is known once the gateway has started."""
        return self._settings.database_url or load(self.data_dir)["DATABASE_URL"]

    def slow_disk(self, delay_milliseconds: int) -> AbstractContextManager[None]:
        """Delay every flush of this gateway's database until the context ends."""
        return slow_disk(self.database_url, delay_milliseconds)

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run one of the gateway's commands against this run's database."""
        command = [str(self._source.python), "manage.py", *arguments]
        environment = {**os.environ, **self.environment, "DATABASE_URL": self.database_url}
        return subprocess.run(
            command, cwd=self._source.directory, env=environment, capture_output=True, text=True, check=False
        )


def _environment(port: int, data_dir: Path, config: Path, settings: GatewaySettings) -> Mapping[str, str]:
    metrics = {"METRICS_ADDRESS": f"{LOOPBACK}:{free_port()}"} if settings.has_metrics else {}
    return {
        **metrics,
        "GATEWAY_ENV": "production",
        "GATEWAY_BASE_URL": GATEWAY_BASE_URL,
        # A version that does not add the base URL's host to ALLOWED_HOSTS never becomes ready without this setting, and
        # repeats its readiness check as long as it runs.
        "ALLOWED_HOSTS": f"{LOOPBACK},{urlsplit(GATEWAY_BASE_URL).hostname}",
        "GATEWAY_CONFIG": str(config),
        "HOST": LOOPBACK,
        "PORT": str(port),
        "DATA_DIR": str(data_dir),
        "WEB_CONCURRENCY": str(settings.workers),
        "LEDGER_POOL_MAX_CONNECTIONS": str(settings.database_pool),
        # All clients have one address here, and all calls go to one or two upstreams.
        "CONNECTIONS_PER_ADDRESS_MAX": str(CONNECTIONS_MAX),
        "UPSTREAM_CONNECTIONS_MAX": str(CONNECTIONS_MAX),
        "SECRET_KEY": secrets.token_urlsafe(48),
        "FIELD_ENCRYPTION_KEYS": Fernet.generate_key().decode(),
        # A developer's own database must be neither measured nor written to.
        "DATABASE_URL": settings.database_url,
    }
