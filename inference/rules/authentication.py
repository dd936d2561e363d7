"""How an upstream is authenticated: the header that carries its key, and what every URL of it ends with."""

import re
from collections.abc import Mapping
from typing import Any

BEARER = "bearer"
QUERY_MAX_ITEMS = 8
QUERY_MAX_CHARACTERS = 200

_HEADER = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}")
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_NOT_OURS_TO_SET = frozenset(
    {
        *(
            "host",
            "connection",
            "content-length",
            "content-type",
            "content-encoding",
            "transfer-encoding",
            "upgrade",
            "te",
        ),
        *("accept", "accept-encoding", "expect", "cookie", "proxy-authorization", "trailer", "keep-alive"),
        *("idempotency-key", "x-client-request-id", "anthropic-version", "anthropic-beta"),
    }
)
"""Headers that the HTTP client or every call sets, which a key would overwrite."""


def read_auth(value: Any) -> str:
    """Read `bearer` or the name of a header that may carry a key. Raises ValueError."""
    if not isinstance(value, str) or not _HEADER.fullmatch(value) or value.lower() in _NOT_OURS_TO_SET:
        raise ValueError(f"auth must be {BEARER}, or the name of the header that carries the key")
    return value


def read_query(value: Any) -> Mapping[str, str]:
    """Read a short map of names to texts. Raises ValueError."""
    if not isinstance(value, Mapping) or not 1 <= len(value) <= QUERY_MAX_ITEMS:
        raise ValueError(f"query must be a map of 1 to {QUERY_MAX_ITEMS} parameters")
    for name, text in value.items():
        is_name = isinstance(name, str) and _NAME.fullmatch(name) is not None
        if not is_name or not isinstance(text, str) or not _is_plain(text):
            raise ValueError(f"query must map names to texts of at most {QUERY_MAX_CHARACTERS} printable characters")
    return value


def _is_plain(text: str) -> bool:
    return len(text) <= QUERY_MAX_CHARACTERS and text.isascii() and text.isprintable()
