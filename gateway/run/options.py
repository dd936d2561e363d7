"""Reads the options of `make run` from the environment."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from gateway.core.contract.log_lines import FORMATS, TEXT
from gateway.run.addresses import read_address
from gateway.run.errors import StartError
from gateway.run.settings import PROJECT_DIR, settings_problems

__all__ = ["PROJECT_DIR", "Options"]

WILDCARD_HOSTS = ("", "0.0.0.0", "::", "*")  # noqa: S104 - recognised, not listened on
PORT_MAX = 65535
PARTS = ("server", "worker", "sandbox", "beat")
"""What `--only` chooses from; the worker of sandbox runs is started only if the configuration needs it."""
CUT_SECONDS = 10.0
"""How long a server needs at most to end what it has cut after DRAIN_SECONDS."""


@dataclass(frozen=True, slots=True)
class Options:
    """The address, data directory and configuration of a gateway. `metrics_address` is where all metrics are served, if anywhere."""

    host: str
    port: int
    data_dir: Path
    base_url: str
    config: Path | None
    database_url: str | None
    workers: int
    stop_seconds: float
    is_production: bool
    payments: bool = False
    metrics_address: tuple[str, int] | None = None
    parts: Collection[str] = PARTS

    @classmethod
    def read(cls, environment: Mapping[str, str], parts: Collection[str] = PARTS) -> "Options":
        """Read the options; an empty variable counts as absent. Raises StartError with all problems."""
        given = {name: value for name, value in environment.items() if value}
        problems: list[str] = []
        host = given.get("HOST", "localhost")
        port = _number(given, "PORT", 8000, PORT_MAX, problems)
        is_production = given.get("GATEWAY_ENV") == "production"
        options = cls(
            host=host,
            port=port,
            data_dir=Path(given.get("DATA_DIR", PROJECT_DIR / ".data")).absolute(),
            base_url=given.get("GATEWAY_BASE_URL", f"http://{_reachable(host)}:{port}").rstrip("/"),
            config=_config(given.get("GATEWAY_CONFIG"), is_production, problems),
            database_url=given.get("DATABASE_URL"),
            workers=_number(given, "WEB_CONCURRENCY", 1, 256, problems),
            stop_seconds=_stop_seconds(given, problems),
            is_production=is_production,
            payments=_payments(given, is_production, problems),
            metrics_address=_metrics_address(given, problems),
            parts=parts,
        )
        if given.get("LOG_FORMAT", TEXT) not in FORMATS:
            problems.append(f"LOG_FORMAT must be {' or '.join(FORMATS)}.")
        if is_production:
            problems = [*settings_problems(given, besides=problems), *problems]
        if problems:
            raise StartError("\n".join(problems))
        return options

    @property
    def probe_host(self) -> str:
        """Return the address at which this machine reaches its own server."""
        return _reachable(self.host)


def _number(given: Mapping[str, str], name: str, default: int, maximum: int, problems: list[str]) -> int:
    """Return a whole number of at least 1, or record a problem."""
    text = given.get(name, str(default))
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= maximum:
        problems.append(f"{name} must be a whole number from 1 to {maximum}, not {text!r}.")
        return default
    return int(text)


def _stop_seconds(given: Mapping[str, str], problems: list[str]) -> float:
    """Return how long the processes may take to stop."""
    notice, drain = (
        _seconds(given, "DRAIN_NOTICE_SECONDS", 2.0, problems),
        _seconds(given, "DRAIN_SECONDS", 10.0, problems),
    )
    return notice + drain + CUT_SECONDS


def _seconds(given: Mapping[str, str], name: str, default: float, problems: list[str]) -> float:
    """Return a time of at least 0, or record a problem."""
    try:
        seconds = float(given.get(name, default))
    except ValueError:
        seconds = -1.0
    if 0 <= seconds < float("inf"):
        return seconds
    problems.append(f"{name} must be a number of at least 0, not {given[name]!r}.")
    return default


def _metrics_address(given: Mapping[str, str], problems: list[str]) -> tuple[str, int] | None:
    """Return where /metrics is served, if it is wanted, or record a problem."""
    try:
        return read_address("METRICS_ADDRESS", given["METRICS_ADDRESS"]) if "METRICS_ADDRESS" in given else None
    except ValueError as error:
        problems.append(str(error))
        return None


def _payments(given: Mapping[str, str], is_production: bool, problems: list[str]) -> bool:
    """Return whether the stand-in of a payment provider is wanted, or record a problem."""
    setting = given.get("PAYMENTS")
    if setting is None:
        return False
    if setting != "demo" or is_production or "STRIPE_SECRET_KEY" in given:
        problems.append("PAYMENTS can only be demo, outside production and without STRIPE_SECRET_KEY.")
    return True


def _reachable(host: str) -> str:
    """Return a host name for URLs: the loopback address for "every address", brackets around IPv6."""
    if host in WILDCARD_HOSTS:
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def _config(setting: str | None, is_production: bool, problems: list[str]) -> Path | None:
    """Return the file to apply: the setting, otherwise the demo, except in production; or record a problem."""
    if setting is None:
        return None if is_production else PROJECT_DIR / "gateway" / "demo.yaml"
    path = Path(setting).absolute()
    try:
        path.open("rb").close()
    except OSError as error:
        problems.append(f"Cannot read GATEWAY_CONFIG {setting}: {error.strerror}.")
    return path
