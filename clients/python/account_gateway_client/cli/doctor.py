"""`agw doctor`."""

import click

from account_gateway_client.cli.options import json_option
from account_gateway_client.cli.settings import Settings, uses_gateway


@click.command()
@uses_gateway
@json_option
def doctor(settings: Settings, as_json: bool) -> int:
    """Check clock, address, TLS, sign-in, scopes, models and wallet, and say what to do."""
    from account_gateway_client.cli.checks import examine
    from account_gateway_client.cli.output import print_json, print_pairs

    findings = list(examine(settings))
    if as_json:
        print_json([{"check": found.check, "ok": found.exit_status == 0, "text": found.text} for found in findings])
    else:
        print_pairs(
            {found.check: f"{'ok' if found.exit_status == 0 else 'PROBLEM'}: {found.text}" for found in findings}
        )
    return next((found.exit_status for found in findings if found.exit_status), 0)
