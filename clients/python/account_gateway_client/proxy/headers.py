"""Which headers go on to the gateway, and which come back."""

from collections.abc import Iterable, Mapping

from account_gateway_client.receipts import IDEMPOTENCY_KEY, MAX_COST

RawHeader = tuple[bytes, bytes]
RawHeaders = list[RawHeader]

# RFC 9110 section 7.6.1, and those of a proxy.
HOP_BY_HOP = frozenset(
    {
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-authentication-info"),
        *("proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "http2-settings"),
    }
)
# What the proxy says itself, what is about the way to it, and its secret.
REPLACED = frozenset(
    {
        *("host", "authorization", "x-api-key", "api-key", "dpop", "cookie", "expect", "accept-encoding", "via"),
        *("forwarded", "x-real-ip", "referer", MAX_COST, IDEMPOTENCY_KEY.lower()),
    }
)
# What would change how a tool behaves towards 127.0.0.1, where others listen as well.
OF_AN_ORIGIN = frozenset({"set-cookie", "set-cookie2", "alt-svc", "clear-site-data", "strict-transport-security"})
REPLACED_PREFIXES = ("x-forwarded-", "sec-fetch-")


def joined(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return headers by lower-case name; several values of one name are joined by a comma."""
    found: dict[str, str] = {}
    for name, value in headers:
        text, known = value.decode("latin-1"), name.decode("latin-1").lower()
        found[known] = f"{found[known]}, {text}" if known in found else text
    return found


def onwards(headers: RawHeaders) -> RawHeaders:
    """Return a tool's headers as they go on. Receipts at the end of an answer can be read only if it is not compressed."""
    dropped = HOP_BY_HOP | REPLACED | _named_by_connection(joined(headers))
    kept = [(name, value) for name, value in headers if _passes(name.decode("latin-1").lower(), dropped)]
    return [*kept, (b"accept-encoding", b"identity")]


def backwards(headers: RawHeaders) -> RawHeaders:
    """Return the gateway's headers as they come back."""
    dropped = HOP_BY_HOP | OF_AN_ORIGIN | _named_by_connection(joined(headers))
    return [(name, value) for name, value in headers if name.decode("latin-1").lower() not in dropped]


def has_body(headers: Mapping[str, str]) -> bool:
    """Return whether a request has a body. RFC 9112 section 6."""
    return "transfer-encoding" in headers or headers.get("content-length", "0") != "0"


def _passes(name: str, dropped: frozenset[str]) -> bool:
    """Servers take a name with an underscore for the one with a hyphen, so those do not pass either."""
    return name not in dropped and "_" not in name and not name.startswith(REPLACED_PREFIXES)


def _named_by_connection(headers: Mapping[str, str]) -> frozenset[str]:
    return frozenset(name.strip().lower() for name in headers.get("connection", "").split(","))
