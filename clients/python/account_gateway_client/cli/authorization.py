"""Gets a device session from a gateway: the person allows it in a browser. RFC 6749 section 4.1, RFC 9449 section 10."""

import platform
import secrets
import time
from collections.abc import Callable, Sequence
from urllib.parse import urlencode

from account_gateway_client.answers import json_of
from account_gateway_client.cli import device_routes, pkce
from account_gateway_client.cli.callback import Callback
from account_gateway_client.cli.discovery import Metadata
from account_gateway_client.cli.sessions import DeviceSession
from account_gateway_client.keys import ProofKey

CLIENT_ID = "agw"
PATIENCE_SECONDS = 300.0
STATE_BYTES = 32
NAME_MAX_CHARACTERS = 120


def authorize(metadata: Metadata, scopes: Sequence[str], show: Callable[[str, int], None]) -> DeviceSession:
    """Make a key, let the person allow it, and return its session, which is not kept yet.

    `show` gets the address to open, and the port that the browser comes back to. Raises as `Callback.code` does, and
    GatewayError and GatewayUnreachable.
    """
    key, verifier, state = ProofKey.generate(), pkce.new_verifier(), secrets.token_urlsafe(STATE_BYTES)
    with Callback(state=state, issuer=metadata.issuer) as callback:
        parameters = {
            "response_type": "code",
            "client_id": CLIENT_ID,
            "redirect_uri": callback.redirect_uri,
            "code_challenge_method": "S256",
            "code_challenge": pkce.challenge_of(verifier),
            "dpop_jkt": key.thumbprint,
            "scope": " ".join(scopes),
            "state": state,
        }
        show(f"{metadata.authorization_endpoint}?{urlencode(parameters)}", callback.port)
        code = callback.code(PATIENCE_SECONDS)
        return _redeem(metadata.issuer, key, code, verifier, callback.redirect_uri)


def _redeem(gateway: str, key: ProofKey, code: str, verifier: str, redirect_uri: str) -> DeviceSession:
    requested_at, name = time.time(), device_name()
    members = {
        "code": code,
        "code_verifier": verifier,
        "client_id": CLIENT_ID,
        "redirect_uri": redirect_uri,
        "dpop_jwk": key.jwk,
        "device_session": True,
        "device_name": name,
    }
    answer = json_of(device_routes.post(gateway, device_routes.CODE_PATH, key, members))
    device = answer["device_session"]
    return DeviceSession(
        gateway=gateway,
        device_id=device["id"],
        name=name,
        scope=answer["scope"],
        expires_at=device["expires_at"],
        key=key.to_pem().decode("ascii"),
        refresh_token=answer["refresh_token"],
        access=device_routes.access_of(answer, requested_at),
    )


def device_name() -> str:
    """Return the name of this computer, as the portal's list of devices shows it."""
    name = "".join(filter(str.isprintable, platform.node())).strip()
    return name[:NAME_MAX_CHARACTERS] or "Command line"
