"""The group of commands, and how `agw` ends."""

import importlib
import sys
from collections.abc import Sequence

import click

# A command's module and attribute have its name. What a line says is shown by `agw --help`, without importing any.
COMMANDS: dict[str, str] = {
    "wallet": "Show what is in the wallet.",
}


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


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="account-gateway-client")
def agw() -> None:
    """Call AI models through an Account Gateway, paid from your wallet."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run `agw` and exit: 0, or what `exit_status` says, after one line on stderr."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run `agw` and return its exit status."""
    from account_gateway_client.cli.output import complain
    from account_gateway_client.errors import ClientError

    try:
        return agw.main(arguments, prog_name="agw", standalone_mode=False) or 0
    except click.UsageError as error:
        error.show()
        return error.exit_code
    except click.Abort:
        return 130
    except ClientError as error:
        return complain(error)
