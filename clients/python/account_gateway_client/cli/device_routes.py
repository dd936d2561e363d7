"""The token routes of a device, called with a proof and without a token."""

from typing import Any

import requests

from account_gateway_client.answers import json_of, reaching
from account_gateway_client.cli.sessions import Access
from account_gateway_client.errors import GatewayUnreachable
from account_gateway_client.keys import ProofKey
from account_gateway_client.proofs import dpop_proof

CODE_PATH, REFRESH_PATH, REVOKE_PATH = "/v1/public/token", "/v1/public/device/token", "/v1/public/device/revoke"
TIMEOUT_SECONDS = 10.0
ATTEMPTS = 2


def post(gateway: str, path: str, key: ProofKey, members: dict[str, Any]) -> requests.Response:
    """Send one signed request, and a second time where the gateway asks for a nonce. May raise GatewayUnreachable."""
    url, nonce = gateway + path, None
    for _ in range(ATTEMPTS):
        proof = dpop_proof(key, "POST", url, nonce=nonce)
        with reaching(gateway):
            answer = requests.post(
                url, json=members, headers={"DPoP": proof}, timeout=TIMEOUT_SECONDS, allow_redirects=False
            )
        nonce = answer.headers.get("DPoP-Nonce")
        if nonce is None or answer.ok:
            break
    return answer


def refresh(gateway: str, key: ProofKey, refresh_token: str) -> dict[str, Any]:
    """Rotate a refresh credential and return the token response. Where the answer is lost, the same credential is sent
    again at once: the gateway then gives the same successor. May raise GatewayError and GatewayUnreachable."""
    members = {"grant_type": "refresh_token", "refresh_token": refresh_token}
    try:
        return json_of(post(gateway, REFRESH_PATH, key, members))
    except GatewayUnreachable:
        return json_of(post(gateway, REFRESH_PATH, key, members))


def access_of(answer: dict[str, Any], requested_at: float) -> Access:
    """Return the access token of a token response."""
    return Access(answer["access_token"], answer.get("scope", ""), requested_at + answer["expires_in"])
