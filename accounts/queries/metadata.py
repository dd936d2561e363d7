"""Builds the gateway's OAuth metadata. RFC 8414, RFC 9728."""

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from accounts.operations import model_names
from accounts.rules import pkce
from accounts.rules.assertion import JWT_BEARER
from accounts.rules.jwt import ALGORITHMS
from gateway.core.api.url_map import capabilities
from gateway.core.contract.capabilities import infer


def authorization_server() -> dict[str, Any]:
    """Return the authorization server metadata. It lists only what is served."""
    base_url = settings.GATEWAY_BASE_URL
    return {
        "issuer": base_url,
        "authorization_endpoint": f"{settings.PORTAL_URL}/authorize",
        "token_endpoint": f"{base_url}/v1/oauth/token",
        "jwks_uri": f"{base_url}/.well-known/jwks.json",
        "scopes_supported": scopes_supported(),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token", JWT_BEARER],
        "code_challenge_methods_supported": [pkce.METHOD],
        "token_endpoint_auth_methods_supported": ["none"],
        "dpop_signing_alg_values_supported": list(ALGORITHMS),
        "authorization_response_iss_parameter_supported": True,
        "protected_resources": [base_url],
    }


def scopes_supported() -> list[str]:
    """Return the scopes that can be used now: those that an action requires, and `infer:` for aliases that can be
    called.
    """
    return sorted(capabilities() | {infer(alias) for alias in model_names.registered().callable_now()})


def protected_resource() -> dict[str, Any]:
    """Return the protected resource metadata: the API accepts only DPoP-bound tokens."""
    base_url = settings.GATEWAY_BASE_URL
    return {
        "resource": base_url,
        "authorization_servers": [base_url],
        "jwks_uri": f"{base_url}/.well-known/jwks.json",
        "receipt_keys_uri": f"{base_url}/.well-known/receipt-keys.json",
        "scopes_supported": scopes_supported(),
        "bearer_methods_supported": ["header"],
        "dpop_signing_alg_values_supported": list(ALGORITHMS),
        "dpop_bound_access_tokens_required": True,
    }


def is_inserted_path(path: str) -> bool:
    """Return whether a path is that of the base URL, which clients append to the well-known path."""
    return f"/{path}" == urlsplit(settings.GATEWAY_BASE_URL).path
