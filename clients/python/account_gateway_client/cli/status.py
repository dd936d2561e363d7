"""`agw status`."""

from typing import Any

import click

from account_gateway_client.cli.options import json_option
from account_gateway_client.cli.settings import Settings, uses_gateway


@click.command()
@uses_gateway
@json_option
def status(settings: Settings, as_json: bool) -> None:
    """Show who is signed in where, until when, and what is in the wallet."""
    from account_gateway_client.cli.output import print_json, print_pairs, utc
    from account_gateway_client.cli.session import gateway_of, open_gateway
    from account_gateway_client.cli.sessions import Sessions

    session, gateway = Sessions(settings.config_dir).load(gateway_of(settings)), open_gateway(settings)
    account = gateway.account()
    wallet = gateway.wallet() if "wallet:read" in account["scopes"] else None
    if as_json:
        facts = {"gateway": session.gateway, "account": account, "wallet": wallet}
        return print_json(facts | {"device": session.name, "expiresAt": session.expires_at})
    print_pairs(
        {
            "Gateway": session.gateway,
            "Account": _who(account),
            "Device": session.name,
            "Until": utc(session.expires_at),
            "Scopes": " ".join(account["scopes"]),
            "Wallet": _left(wallet),
        }
    )
    return None


def _who(account: dict[str, Any]) -> str:
    name, did = account.get("displayName"), account["did"]
    return f"{name} ({did})" if name else str(did)


def _left(wallet: dict[str, Any] | None) -> str:
    from account_gateway_client.cli.money import dollars_of

    if wallet is None:
        return "not shown: the sign-in lacks wallet:read"
    return f"{dollars_of(wallet['availableMicrousd'])} to spend"
