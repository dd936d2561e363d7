"""DPoP for httpx: `httpx.Client(auth=DPoPAuth(signer))`, synchronous or asynchronous."""

import httpx

from account_gateway_client.auth_flow import SigningFlow


class DPoPAuth(SigningFlow, httpx.Auth):
    """Signs every request of an httpx client."""
