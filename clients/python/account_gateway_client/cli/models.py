"""`agw models`."""

from decimal import Decimal
from typing import Any

import click

from account_gateway_client.cli.options import json_option
from account_gateway_client.cli.settings import Settings, uses_gateway


@click.command()
@uses_gateway
@json_option
def models(settings: Settings, as_json: bool) -> None:
    """List the models, their prices, and which of them you may call."""
    from account_gateway_client.cli.output import print_json, print_table
    from account_gateway_client.cli.session import open_gateway

    found = open_gateway(settings).models()
    if as_json:
        return print_json(found)
    print_table(("MODEL", "ALLOWED", "ROUTES", "PRICES IN MICRO-USD"), map(_row, found))
    return None


def _row(model: dict[str, Any]) -> tuple[str, ...]:
    prices = ", ".join(f"{name} {_price(price)}" for name, price in (model.get("pricing") or {}).items())
    return model["id"], "yes" if model["authorized"] else "no", " ".join(model["routes"]), prices


def _price(price: Any) -> str:
    """Write a price, or the least and the most of those by size and quality."""
    if not isinstance(price, dict):
        return str(price)
    amounts = sorted(price.values(), key=Decimal)
    return f"{amounts[0]} to {amounts[-1]}" if amounts else ""
