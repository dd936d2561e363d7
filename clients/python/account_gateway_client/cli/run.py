"""`agw run`: a command whose model calls are paid from the wallet."""

import click

from account_gateway_client.cli.limits import limits_options, maximum_of
from account_gateway_client.cli.settings import Settings, uses_gateway


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@uses_gateway
@limits_options
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def run(settings: Settings, max_cost: int | None, budget: int | None, command: tuple[str, ...]) -> int:
    """Run a COMMAND whose model calls are paid from your wallet.

    Its exit status is the command's: `agw run --budget 5 -- claude`.
    """
    from account_gateway_client.cli.child import run_child
    from account_gateway_client.cli.proxies import opened
    from account_gateway_client.cli.tool_costs import sum_of
    from account_gateway_client.cli.tool_variables import environment_with

    with opened(settings, max_cost_microusd=maximum_of(max_cost, budget), budget_microusd=budget) as proxy:
        status = run_child(command, environment_with(proxy))
    click.echo(sum_of(proxy.spending), err=True)
    return status
