"""Which gateway a command is about, and where its files are."""

import functools
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click
from click.core import ParameterSource

APP = "agw"
CONFIG_DIR, GATEWAY = "AGW_CONFIG_DIR", "AGW_GATEWAY"
LOOPBACK_HOSTS = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True, slots=True)
class Settings:
    """`gateway` is the address that was asked for, if any; `config_dir` has the sessions."""

    gateway: str | None
    config_dir: Path

    @classmethod
    def of(cls, gateway: str | None) -> "Settings":
        """Read the rest from the environment."""
        return cls(gateway, Path(os.environ.get(CONFIG_DIR) or click.get_app_dir(APP)))


def check_address(url: str) -> str:
    """Return a gateway's address without a slash at its end. Raises ValueError unless it is https, or http on loopback,
    and fit to be printed."""
    parts = urlsplit(url)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK_HOSTS)
    if " " in url or not url.isprintable():
        raise ValueError("it has a space or a control character")
    if not is_safe or not parts.hostname or parts.username is not None or parts.query or parts.fragment:
        raise ValueError("it must be an https:// address (http:// only on this computer), without user and query")
    _ = parts.port  # raises ValueError where it is none
    return url.rstrip("/")


def _checked(_context: click.Context, _option: click.Parameter, url: str | None) -> str | None:
    if not url:
        return None
    try:
        return check_address(url)
    except ValueError as error:
        raise click.BadParameter(f"{url}: {error}") from None


gateway_option = click.option(
    "--gateway", metavar="URL", envvar=GATEWAY, show_envvar=True, callback=_checked, help="The gateway's address."
)


def uses_gateway(command: Callable[..., int | None]) -> Callable[..., int | None]:
    """Add the option `--gateway`, which may also stand before the command, and pass the Settings as its first argument."""

    @gateway_option
    @click.pass_context
    @functools.wraps(command)
    def with_settings(context: click.Context, /, gateway: str | None, **options: Any) -> int | None:
        before = context.obj if context.get_parameter_source("gateway") is not ParameterSource.COMMANDLINE else None
        return command(Settings.of(before or gateway), **options)

    return with_settings
