"""The `WWW-Authenticate` of refused proofs and tokens. RFC 9449 section 7.1, RFC 6750 section 3."""

import re

from gateway.core.contract.errors import ApiError

ALGORITHMS = "ES256 EdDSA"

_UNQUOTABLE = re.compile(r"[^\x20\x21\x23-\x5b\x5d-\x7e]")


def challenge(code: str, description: str, *, scope: str | None = None) -> str:
    """Render a DPoP challenge without characters that a quoted string may not contain (RFC 6750 section 3)."""
    parameters = [("error", code), ("error_description", description), ("scope", scope), ("algs", ALGORITHMS)]
    return "DPoP " + ", ".join(f'{name}="{_UNQUOTABLE.sub("", text)}"' for name, text in parameters if text)


def challenged(error: ApiError, *, scope: str | None = None) -> ApiError:
    """Add the challenge to an error and return it."""
    error.headers["WWW-Authenticate"] = challenge(error.code, error.message, scope=scope)
    return error
