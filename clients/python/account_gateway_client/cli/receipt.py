"""`agw receipt`."""

import base64
import json
import re
from typing import Any

import click

from account_gateway_client.cli.options import json_option
from account_gateway_client.cli.settings import Settings, uses_gateway

_ID = re.compile(r"[A-Za-z0-9_-]+")


@click.command()
@click.argument("usage_id", metavar="ID")
@uses_gateway
@click.option("--verify", is_flag=True, help="Check its signature and its arithmetic.")
@json_option
def receipt(settings: Settings, usage_id: str, verify: bool, as_json: bool) -> None:
    """Show the signed receipt of a call: what it was for, and how its charge is made up.

    ID is the call's usage id, as `agw usage` and `agw request` show it.
    """
    from account_gateway_client.cli.output import print_json
    from account_gateway_client.cli.session import open_gateway

    gateway = open_gateway(settings)
    if not _ID.fullmatch(usage_id):
        raise click.UsageError(f"{usage_id!r} is not a usage id such as use_01m8e0trvrdxkqg4g54cwyet0g.")
    signed = gateway.receipt(usage_id)
    claims = gateway.verify_receipt(signed) if verify else _claims(signed)
    if as_json:
        return print_json({"receipt": signed, "claims": claims, "verified": verify})
    return _show(claims, verify)


def _claims(signed: str) -> dict[str, Any]:
    """Return the claims as they stand."""
    payload = signed.split(".")[1]
    claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return claims


def _show(claims: dict[str, Any], is_verified: bool) -> None:
    from account_gateway_client.cli.money import dollars_of
    from account_gateway_client.cli.output import print_pairs, print_table

    charge, hold = dollars_of(claims["charge_microusd"]), dollars_of(claims["hold_microusd"])
    print_pairs(
        {
            "Call": claims["jti"],
            "Paid by": claims["sub"],
            "Model": claims["model"],
            "Route": claims["route"],
            "Settled": claims["settled_at"],
            "Charge": f"{charge} of {hold} held",
            "Verified": "yes: signature and amounts" if is_verified else "no: --verify does it",
        }
    )
    click.echo()
    print_table(("COMPONENT", "QUANTITY", "MICRO-USD EACH", "MICRO-USD"), map(_row, claims["components"]))


def _row(component: dict[str, Any]) -> tuple[str, ...]:
    names = ("component", "quantity", "unitPriceMicrousd", "amountMicrousd")
    return tuple("" if component.get(name) is None else str(component[name]) for name in names)
