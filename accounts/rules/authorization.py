"""Checks authorization requests. RFC 6749 section 4.1.1, RFC 7636, RFC 9449 section 10.

Client and redirect URI are checked first, because other errors may be returned to the client only if both are valid.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from accounts.rules import pkce, public_clients, scopes
from accounts.rules.public_clients import ClientError

STATE_MAX_CHARACTERS = 2048

_STATE = re.compile(r"[\x20-\x7e]+")
_THUMBPRINT = re.compile(r"[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]")
_NOT_SUPPORTED = {"request": "request_not_supported", "request_uri": "request_uri_not_supported"}

Parameters = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Target:
    """A valid client and one of its redirect URIs."""

    client_id: str
    redirect_uri: str


@dataclass(frozen=True, slots=True)
class AuthorizationParameters:
    """A valid request. `dpop_jkt`, if given, binds the code to a key."""

    target: Target
    state: str
    scopes: tuple[str, ...]
    code_challenge: str
    dpop_jkt: str | None


class AuthorizationError(Exception):
    """A request with a valid target is refused. The error is returned to the client (RFC 6749 section 4.1.2.1)."""

    def __init__(self, error: str, description: str) -> None:
        self.error = error
        self.description = description
        super().__init__(error)


def read_target(parameters: Parameters, registered: Mapping[str, Collection[str]]) -> Target:
    """Check client and redirect URI. Raises ClientError, which never redirects.

    `registered` maps the ids of registered clients to their exact redirect URIs.
    """
    client_id = _single(parameters, "client_id")
    redirect_uri = _single(parameters, "redirect_uri")
    if client_id == public_clients.COMMAND_LINE:
        public_clients.check_loopback_redirect(redirect_uri)
    elif client_id in registered:
        public_clients.check_registered_redirect(redirect_uri, registered[client_id])
    else:
        public_clients.check_redirect(redirect_uri, public_clients.check_origin(client_id))
    return Target(client_id, redirect_uri)


def read_state(parameters: Parameters) -> str | None:
    """Return the state if it can be returned unchanged."""
    values = parameters.get("state", ())
    if len(values) == 1 and len(values[0]) <= STATE_MAX_CHARACTERS and _STATE.fullmatch(values[0]):
        return values[0]
    return None


def read_request(parameters: Parameters, target: Target, grantable: Collection[str]) -> AuthorizationParameters:
    """Check all other parameters. `grantable` lists the scopes that a public client may be granted. Raises
    AuthorizationError.
    """
    _refuse_unsupported(parameters)
    state = read_state(parameters)
    if state is None:
        raise AuthorizationError("invalid_request", "state is missing or not printable")
    challenge = _optional(parameters, "code_challenge")
    if not pkce.is_challenge(challenge) or _optional(parameters, "code_challenge_method") != pkce.METHOD:
        raise AuthorizationError("invalid_request", "an S256 code_challenge is required")
    jkt = _optional(parameters, "dpop_jkt")
    if jkt is not None and not _THUMBPRINT.fullmatch(jkt):
        raise AuthorizationError("invalid_request", "dpop_jkt is not a key's thumbprint")
    return AuthorizationParameters(target, state, _scopes(parameters, grantable), str(challenge), jkt)


def _refuse_unsupported(parameters: Parameters) -> None:
    for name, error in _NOT_SUPPORTED.items():
        if name in parameters:
            raise AuthorizationError(error, f"{name} is not supported")
    if _optional(parameters, "response_type") != "code":
        known = "response_type" in parameters
        error = "unsupported_response_type" if known else "invalid_request"
        raise AuthorizationError(error, "response_type must be code")
    if _optional(parameters, "response_mode") not in (None, "query"):
        raise AuthorizationError("invalid_request", "response_mode must be query")


def _scopes(parameters: Parameters, grantable: Collection[str]) -> tuple[str, ...]:
    try:
        requested = scopes.parse(_optional(parameters, "scope") or "")
    except ValueError:
        raise AuthorizationError("invalid_scope", "scope is missing or malformed") from None
    beyond = [scope for scope in requested if scope not in grantable]
    if beyond:
        raise AuthorizationError("invalid_scope", f"{beyond[0]} cannot be granted to a public client")
    return tuple(requested)


def _single(parameters: Parameters, name: str) -> str:
    values = parameters.get(name, ())
    if len(values) != 1:
        raise ClientError(f"{name} must be given once.")
    return values[0]


def _optional(parameters: Parameters, name: str) -> str | None:
    values = parameters.get(name, ())
    if len(values) > 1:
        raise AuthorizationError("invalid_request", f"{name} is given more than once")
    return values[0] if values else None
