"""The `WWW-Authenticate` of refused proofs and tokens. RFC 9449 section 7.1, RFC 6750 section 3, RFC 9728 section 5.1."""

import re
from functools import lru_cache
from urllib.parse import urlsplit

from django.conf import settings

from gateway.core.contract.errors import ApiError

ALGORITHMS = "ES256 EdDSA"
METADATA_PATH = "/.well-known/oauth-protected-resource"

_UNQUOTABLE = re.compile(r"[^\x20\x21\x23-\x5b\x5d-\x7e]")


def challenge(code: str, description: str, *, scope: str | None = None) -> str:
    """Render a DPoP challenge without characters that a quoted string may not contain (RFC 6750 section 3).

    Without `scope` it is that of a 401, and also says where a client learns how to get a token.
    """
    metadata = None if scope else metadata_url(settings.GATEWAY_BASE_URL)
    parameters = [
        ("error", code),
        ("error_description", description),
        ("scope", scope),
        ("resource_metadata", metadata),
        ("algs", ALGORITHMS),
    ]
    return "DPoP " + ", ".join(f'{name}="{_UNQUOTABLE.sub("", text)}"' for name, text in parameters if text)


@lru_cache(maxsize=16)
def metadata_url(resource: str) -> str:
    """Return where a resource's metadata is: its path follows the well-known one (RFC 9728 section 3.1)."""
    parts = urlsplit(resource)
    return parts._replace(path=METADATA_PATH + parts.path).geturl()


def challenged(error: ApiError, *, scope: str | None = None) -> ApiError:
    """Add the challenge to an error and return it."""
    error.headers["WWW-Authenticate"] = challenge(error.code, error.message, scope=scope)
    return error
