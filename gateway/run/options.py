"""Reads what `make run` may be told, from the environment."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gateway.run.errors import StartError

PROJECT_DIR = Path(__file__).resolve().parents[2]
WILDCARD_HOSTS = ("", "0.0.0.0", "::", "*")  # noqa: S104 - recognised, not listened on
PORT_MAX = 65535


@dataclass(frozen=True, slots=True)
class Options:
    """Where one gateway listens, keeps its data and finds its configuration."""

    host: str
    port: int
    data_dir: Path
    base_url: str
    config: Path | None
    database_url: str | None
    workers: int
    is_production: bool

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> "Options":
        """Return the options in `environment`; an empty variable counts as absent. Raises StartError."""
        given = {name: value for name, value in environment.items() if value}
        host = given.get("HOST", "127.0.0.1")
        port = _number(given, "PORT", 8000, PORT_MAX)
        is_production = given.get("GATEWAY_ENV") == "production"
        return cls(
            host=host,
            port=port,
            data_dir=Path(given.get("DATA_DIR", PROJECT_DIR / ".data")).absolute(),
            base_url=given.get("GATEWAY_BASE_URL", f"http://{_reachable(host)}:{port}").rstrip("/"),
            config=_config(given.get("GATEWAY_CONFIG"), is_production),
            database_url=given.get("DATABASE_URL"),
            workers=_number(given, "WEB_CONCURRENCY", 1, 256),
            is_production=is_production,
        )

    @property
    def probe_host(self) -> str:
        """Return the address at which this machine reaches its own server."""
        return _reachable(self.host)


def _number(given: Mapping[str, str], name: str, default: int, maximum: int) -> int:
    """Return a whole number of at least 1."""
    text = given.get(name, str(default))
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= maximum:
        raise StartError(f"{name} must be a whole number from 1 to {maximum}, not {text!r}.")
    return int(text)


def _reachable(host: str) -> str:
    """Return a host name for URLs: the loopback address for "every address", brackets around IPv6."""
    if host in WILDCARD_HOSTS:
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def _config(setting: str | None, is_production: bool) -> Path | None:
    """Return the file to apply: the setting, else the demonstration, which never enters production."""
    if setting is None:
        return None if is_production else PROJECT_DIR / "gateway" / "demo.yaml"
    path = Path(setting).absolute()
    try:
        path.open("rb").close()
    except OSError as error:
        raise StartError(f"Cannot read GATEWAY_CONFIG {setting}: {error.strerror}.") from error
    return path
