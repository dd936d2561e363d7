"""`agw proxy`: a local address for tools that only take a base URL and a key."""

import os
import signal
import stat
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from account_gateway_client.cli.errors import CommandError
from account_gateway_client.cli.limits import limits_options, maximum_of
from account_gateway_client.cli.settings import Settings, uses_gateway

if TYPE_CHECKING:
    from account_gateway_client.proxy.application import CallReport

OTHERS = 0o077


@click.command()
@uses_gateway
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port on 127.0.0.1. Default: a free one.")
@limits_options
def proxy(settings: Settings, port: int, max_cost: int | None, budget: int | None) -> None:
    """Sign for tools that only take a base URL and a key.

    Prints the variables to set, and serves until Ctrl-C.
    """
    from account_gateway_client.cli.proxies import opened
    from account_gateway_client.cli.tool_costs import sum_of
    from account_gateway_client.cli.tool_variables import variables_of

    _keep_output_private()
    running = opened(
        settings,
        max_cost_microusd=maximum_of(max_cost, budget),
        budget_microusd=budget,
        port=port,
        on_call=_tell,
    )
    with running:
        for name, value in variables_of(running).items():
            click.echo(_assignment(name, value))
        sys.stdout.flush()
        click.echo("Serving until Ctrl-C. The key is the proxy's own, and ends with it.", err=True)
        _wait_for_the_end()
    click.echo(sum_of(running.spending), err=True)


def _keep_output_private() -> None:
    """Take from others the right to read a file that gets the secret, or raise CommandError."""
    with suppress(ValueError):  # an output that is no file
        descriptor = sys.stdout.fileno()
        found = os.fstat(descriptor)
        if os.name == "posix" and stat.S_ISREG(found.st_mode) and found.st_mode & OTHERS:
            try:
                os.fchmod(descriptor, stat.S_IMODE(found.st_mode) & ~OTHERS)
            except OSError:
                raise CommandError(
                    "The output has a secret, and others can read the file: write to a terminal."
                ) from None


def _tell(report: "CallReport") -> None:
    from account_gateway_client.cli.tool_costs import line_of

    with suppress(OSError):  # nobody reads it any more
        click.echo(line_of(report), err=True)


def _assignment(name: str, value: str) -> str:
    return f"export {name}={value}" if os.name == "posix" else f'$env:{name}="{value}"'


def _wait_for_the_end() -> None:
    """Return at the first signal to end. Python runs handlers in the main thread, which therefore must not block for ever."""
    ended = threading.Event()

    def end(*_signal: Any) -> None:
        ended.set()

    for each in {signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}:
        signal.signal(each, end)
    while not ended.wait(timeout=3600.0):
        pass
