"""`agw request`."""

import click

from account_gateway_client.cli.options import max_cost_option
from account_gateway_client.cli.settings import Settings, uses_gateway


@click.command()
@click.argument("method")
@click.argument("path")
@uses_gateway
@click.option("-d", "--data", metavar="JSON", help="The body: JSON, @FILE, or @- for standard input.")
@max_cost_option
@click.option(
    "--idempotency-key", metavar="KEY", help="The call's name, which is never paid twice; a new one where left out."
)
def request(
    settings: Settings,
    method: str,
    path: str,
    data: str | None,
    max_cost: int | None,
    idempotency_key: str | None,
) -> int:
    """Send one signed request, such as `agw request GET /v1/wallet`.

    The answer's body goes to standard output as it comes, what it cost to standard error.
    """
    from account_gateway_client.cli.call import call_of
    from account_gateway_client.cli.sending import send
    from account_gateway_client.cli.session import open_gateway

    call = call_of(method, path, data=data, max_cost_microusd=max_cost, idempotency_key=idempotency_key)
    return send(open_gateway(settings), call)
