"""The group of commands, and how `agw` ends."""

import importlib
import os
import sys
from collections.abc import Sequence

import click

from account_gateway_client.cli.settings import gateway_option

# A command's module and attribute have its name. `agw --help` shows what a line says, and imports none of them.
COMMANDS = {
    "login": "Sign in through the browser.",
    "logout": "End the session, at the gateway too.",
    "status": "Show who is signed in where, until when, and what is in the wallet.",
    "request": "Send one signed request.",
    "models": "List the models, their prices, and which of them you may call.",
    "wallet": "Show what is in the wallet.",
    "usage": "List the latest calls and what they cost.",
    "receipt": "Show a call's signed receipt.",
    "proxy": "Sign for tools that only take a base URL and a key.",
    "run": "Run a command whose model calls are paid from your wallet.",
    "doctor": "Find out what is wrong, and what to do.",
}
INTERRUPTED = 130  # as shells say it: 128 and SIGINT


class LazyGroup(click.Group):
    """Imports a command when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(importlib.import_module(f"account_gateway_client.cli.{cmd_name}"), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _show_version(context: click.Context, _option: click.Parameter, is_asked: bool) -> None:
    if is_asked:
        from importlib.metadata import PackageNotFoundError, version

        try:
            click.echo(version("account-gateway-client"))
        except PackageNotFoundError:
            click.echo("not installed")
        context.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@gateway_option
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show the version."
)
@click.pass_context
def agw(context: click.Context, gateway: str | None) -> None:
    """Call AI models through an Account Gateway, paid from your wallet."""
    context.obj = gateway
    if os.environ.get("NO_COLOR"):
        context.color = False


def main(arguments: Sequence[str] | None = None) -> None:
    """Run `agw` and exit: 0, or what `exit_status` says, after one line on stderr."""
    status = run(arguments)
    _flush()
    sys.exit(status)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run `agw` and return its exit status."""
    try:
        return agw.main(arguments, prog_name="agw", standalone_mode=False) or 0
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:
        return _complain_of_use(error)
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        return 1
    except Exception as error:  # noqa: BLE001 - a person gets a line, never a traceback
        return _complain(error)


def _complain_of_use(error: click.ClickException) -> int:
    """Print in one line what is wrong, and where the command is explained."""
    from account_gateway_client.cli.output import say_in_red

    context = error.ctx if isinstance(error, click.UsageError) else None
    command = context.command_path if context else "agw"
    say_in_red(f"{error.format_message().rstrip('.')}. See `{command} --help`.")
    return error.exit_code


def _complain(error: Exception) -> int:
    from account_gateway_client.cli.errors import CommandError
    from account_gateway_client.cli.output import complain
    from account_gateway_client.errors import ClientError

    if isinstance(error, ClientError):
        return complain(error)
    return complain(CommandError(f"Something unexpected happened ({type(error).__name__}): run `agw doctor`."))


def _flush() -> None:
    """Write what is left. Where nobody reads any more, Python's own attempt at the end would be a traceback."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
