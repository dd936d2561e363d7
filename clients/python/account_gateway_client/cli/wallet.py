"""`agw wallet`: what can be spent."""

import click

from account_gateway_client.cli.money import dollars_of
from account_gateway_client.cli.options import json_option
from account_gateway_client.cli.output import print_json, print_pairs, print_table
from account_gateway_client.cli.settings import Settings, uses_gateway


@click.command()
@uses_gateway
@json_option
def wallet(settings: Settings, as_json: bool) -> None:
    """Show what is in the wallet."""
    from account_gateway_client.cli.session import open_gateway

    found = open_gateway(settings).wallet()
    if as_json:
        return print_json(found)
    names = ("available", "balance", "credits", "held", "debt")
    print_pairs({name: dollars_of(found[f"{name}Microusd"]) for name in names})
    rows = [
        (_product(each), dollars_of(each["remainingMicrousd"]), each["expiresAt"] or "never")
        for each in found["credits"]
    ]
    if rows:
        click.echo()
        print_table(("CREDIT FOR", "LEFT", "EXPIRES"), rows)
    return None


def _product(credit: dict[str, str | None]) -> str:
    return credit["product"] or "anything"
