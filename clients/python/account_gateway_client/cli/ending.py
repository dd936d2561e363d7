"""Ends device sessions at the gateway."""

from contextlib import suppress

from account_gateway_client.answers import error_of
from account_gateway_client.cli import device_routes
from account_gateway_client.cli.sessions import DeviceSession
from account_gateway_client.errors import ClientError

ENDED = 204


def end(session: DeviceSession) -> None:
    """End a session at its gateway. Raises GatewayError and GatewayUnreachable."""
    members = {"refresh_token": session.refresh_token}
    answer = device_routes.post(session.gateway, device_routes.REVOKE_PATH, session.proof_key, members)
    if answer.status_code != ENDED:
        raise error_of(answer)


def end_quietly(session: DeviceSession) -> None:
    """End a session that another one replaces. If its gateway cannot be asked, it ends by itself within 30 days."""
    with suppress(ClientError):
        end(session)
