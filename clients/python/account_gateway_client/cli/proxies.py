"""Starts proxies for the person who is signed in."""

from typing import Any

from account_gateway_client.cli.errors import CommandError
from account_gateway_client.cli.session import open_gateway
from account_gateway_client.cli.settings import Settings
from account_gateway_client.proxy.server import LocalProxy


def opened(settings: Settings, *, port: int = 0, **options: Any) -> LocalProxy:
    """Return a proxy that is ready to be entered; options as LocalProxy.

    Raises NotSignedIn, GatewayError or GatewayUnreachable before anything is started, and CommandError where the port is taken.
    """
    gateway = open_gateway(settings)
    gateway.signer.tokens.token()
    try:
        return LocalProxy(gateway, port=port, **options)
    except OSError as error:
        raise CommandError(f"Port {port} cannot be used ({error.strerror}): choose another one by --port.") from None
