"""Opens the gateway that a command is about, as the person who is signed in."""

from account_gateway_client.cli.device_tokens import DeviceTokens
from account_gateway_client.cli.errors import NotSignedIn
from account_gateway_client.cli.sessions import Sessions
from account_gateway_client.cli.settings import GATEWAY, Settings
from account_gateway_client.gateway import Gateway


def gateway_of(settings: Settings) -> str:
    """Return the address of the gateway that was asked for, or else of the one signed in to last. Raises NotSignedIn."""
    address = settings.gateway or Sessions(settings.config_dir).chosen()
    if address is None:
        raise NotSignedIn(f"No gateway is known: run `agw login --gateway URL`, or set {GATEWAY}.")
    return address


def open_gateway(settings: Settings, *, timeout_seconds: float = 30.0) -> Gateway:
    """Return the Gateway of the signed-in person; its tokens renew themselves, also while other processes use them.

    Raises NotSignedIn where there is no session; a session that has ended raises it at the first request.
    """
    sessions, address = Sessions(settings.config_dir), gateway_of(settings)
    return Gateway(address, DeviceTokens(sessions, sessions.load(address)), timeout_seconds=timeout_seconds)
