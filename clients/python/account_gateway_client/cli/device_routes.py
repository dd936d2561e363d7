"""The token routes of a device, called with a proof and without a token."""

from typing import Any

import requests

from account_gateway_client.answers import error_of, json_of, reaching
from account_gateway_client.cli.sessions import Access
from account_gateway_client.errors import GatewayUnreachable
from account_gateway_client.keys import ProofKey
from account_gateway_client.proofs import dpop_proof

CODE_PATH, REFRESH_PATH, REVOKE_PATH = "/v1/public/token", "/v1/public/device/token", "/v1/public/device/revoke"
TIMEOUT_SECONDS = 10.0
BAD_REQUEST = 400


def post(gateway: str, path: str, key: ProofKey, members: dict[str, Any]) -> requests.Response:
    """Send one signed request, and a second time where the gateway asks for a nonce. May raise GatewayUnreachable."""
    answer = _post(gateway, path, key, members)
    if answer.status_code == BAD_REQUEST and error_of(answer).code == "use_dpop_nonce":
        return _post(gateway, path, key, members, nonce=answer.headers.get("DPoP-Nonce"))
    return answer


def refresh(gateway: str, key: ProofKey, refresh_token: str) -> dict[str, Any]:
    """Rotate a refresh credential and return the token response. Where the answer is lost, the same credential is sent
    again at once: the gateway then gives the same successor. May raise GatewayError and GatewayUnreachable."""
    members = {"grant_type": "refresh_token", "refresh_token": refresh_token}
    try:
        return json_of(post(gateway, REFRESH_PATH, key, members))
    except GatewayUnreachable:
        return json_of(post(gateway, REFRESH_PATH, key, members))


def _post(
    gateway: str, path: str, key: ProofKey, members: dict[str, Any], nonce: str | None = None
) -> requests.Response:
    headers = {"DPoP": dpop_proof(key, "POST", gateway + path, nonce=nonce)}
    with reaching(gateway):
        return requests.post(
            gateway + path, json=members, headers=headers, timeout=TIMEOUT_SECONDS, allow_redirects=False
        )


def access_of(answer: dict[str, Any], requested_at: float) -> Access:
    """Return the access token of a token response."""
    return Access(answer["access_token"], answer.get("scope", ""), requested_at + answer["expires_in"])
