"""`agw usage`."""

from typing import Any

import click

from account_gateway_client.cli.options import json_option
from account_gateway_client.cli.settings import Settings, uses_gateway


@click.command()
@uses_gateway
@click.option("--limit", type=click.IntRange(1, 100), default=20, show_default=True, help="How many calls.")
@json_option
def usage(settings: Settings, limit: int, as_json: bool) -> None:
    """List the latest calls and what they cost, the last one first."""
    from account_gateway_client.cli.output import print_json, print_table
    from account_gateway_client.cli.session import open_gateway

    found = open_gateway(settings).usage(limit)
    if as_json:
        return print_json(found)
    print_table(("BEGAN (UTC)", "MODEL", "ROUTE", "IN", "OUT", "STATUS", "COST", "ID"), map(_row, found))
    return None


def _row(call: dict[str, Any]) -> tuple[str, ...]:
    from account_gateway_client.cli.money import dollars_of
    from account_gateway_client.cli.output import minute

    charge = call["chargedMicrousd"]
    cost = "" if charge is None else dollars_of(charge)
    tokens = ("" if call[name] is None else str(call[name]) for name in ("inputTokens", "outputTokens"))
    return minute(call["createdAt"]), call["model"], call["route"], *tokens, call["status"], cost, call["usageId"]
