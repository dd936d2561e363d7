"""Tells the API reference how a protected route authenticates."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension


class DPoPScheme(OpenApiAuthenticationExtension):
    """`Authorization: DPoP <token>` with a `DPoP` proof (RFC 9449)."""

    target_class = "accounts.authentication.DPoPAuthentication"
    name = "DPoP"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        """Describe the scheme."""
        return {
            "type": "http",
            "scheme": "DPoP",
            "bearerFormat": "at+jwt",
            "description": "An access token of 300 seconds, with a fresh proof in the DPoP header (RFC 9449).",
        }
