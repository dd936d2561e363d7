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
    from account_gateway_client.cli.output import plain, print_json

    findings = []
    for found in examine(settings):
        findings.append(found)
        if not as_json:
            mark = click.style("ok     ", fg="green") if found.is_ok else click.style("PROBLEM", fg="red")
            click.echo(f"{mark}  {click.style(found.check.ljust(8), bold=True)}  {plain(found.text)}")
    if as_json:
        print_json([{"check": found.check, "ok": found.is_ok, "text": found.text} for found in findings])
    return next((found.exit_status for found in findings if not found.is_ok), 0)
