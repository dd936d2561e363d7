"""Checks public clients: a browser client is identified by its origin, `agw` is built in; any other client must be
registered.

RFC 6749 section 3.1.2, RFC 8252 section 7.3 (loopback), RFC 9700 section 2.1 (exact redirect URIs). Errors are shown on
a page and never redirect.
"""

import re
from collections.abc import Collection

from gateway.core.contract.addresses import is_origin, origin_of

COMMAND_LINE = "agw"  # the command line of the Python client, which needs no row
BUILT_IN_NAMES = {COMMAND_LINE: "Command line (agw)"}
CLIENT_ID_MAX_CHARACTERS = 255
REDIRECT_URI_MAX_CHARACTERS = 2048
PORT_MAX = 65535

_PRINTABLE = re.compile(r"[\x21-\x7e]+")
_LOOPBACK_REDIRECT = re.compile(r"http://(?:127\.0\.0\.1|\[::1\]):(?P<port>[1-9][0-9]{0,4})(?:/[A-Za-z0-9_~.-]*)+")
_DOT_SEGMENT = re.compile(r"/\.\.?(?:/|$)")
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")


class ClientError(ValueError):
    """A client or its redirect URI is refused. The text is shown on the error page."""


def check_origin(client_id: str) -> str:
    """Return a browser client's id if it is an origin, or raise ClientError."""
    if len(client_id) > CLIENT_ID_MAX_CHARACTERS or not is_origin(client_id):
        raise ClientError("The client_id is not an origin (https, or http on a loopback address) as browsers write it.")
    return client_id


def check_redirect(redirect_uri: str, origin: str) -> str:
    """Return a redirect URI if it is on this origin and has no fragment, or raise ClientError."""
    _check_characters(redirect_uri)
    rest = redirect_uri.removeprefix(origin)
    if rest == redirect_uri or (rest and rest[0] not in "/?"):
        raise ClientError("The redirect URI is not on the client's origin.")
    return redirect_uri


def check_registered_redirect(redirect_uri: str, registered: Collection[str]) -> str:
    """Return a redirect URI if it equals a registered one exactly, or raise ClientError."""
    _check_characters(redirect_uri)
    if redirect_uri not in registered:
        raise ClientError("The redirect URI is not registered for this client.")
    return redirect_uri


def check_loopback_redirect(redirect_uri: str) -> str:
    """Return a redirect URI if it is a plain path on a loopback address, at any port, or raise ClientError.

    The name `localhost` is refused: it may lead elsewhere (RFC 8252 section 8.3).
    """
    _check_characters(redirect_uri)
    found = _LOOPBACK_REDIRECT.fullmatch(redirect_uri)
    if found is None or int(found["port"]) > PORT_MAX or _DOT_SEGMENT.search(redirect_uri):
        raise ClientError("The redirect URI is not a path on http://127.0.0.1 or http://[::1] with a port.")
    return redirect_uri


def _check_characters(redirect_uri: str) -> None:
    if len(redirect_uri) > REDIRECT_URI_MAX_CHARACTERS or not _PRINTABLE.fullmatch(redirect_uri):
        raise ClientError("The redirect URI is not a URI of printable ASCII.")
    if "\\" in redirect_uri or "#" in redirect_uri or _STRAY_PERCENT.search(redirect_uri):
        raise ClientError("The redirect URI has a fragment or a forbidden character.")


def registration_fault(client_id: str, redirect_uris: Collection[str], *, trusted: bool) -> str | None:
    """Return why a client cannot be registered with these (valid) redirect URIs, or None."""
    if client_id in BUILT_IN_NAMES:
        is_changed = trusted or redirect_uris
        return (
            f"{client_id} is built in: it can be disabled, but not trusted or given redirect URIs"
            if is_changed
            else None
        )
    if not is_origin(client_id):
        return None if redirect_uris else "a named client needs at least one redirect URI"
    if any(origin_of(uri) != client_id for uri in redirect_uris):
        return "the redirect URIs of an origin must be on that origin"
    return None


def is_client_id(value: str) -> bool:
    """Return whether text can be a client's id: a plain name or an origin."""
    return ":" not in value or is_origin(value)
