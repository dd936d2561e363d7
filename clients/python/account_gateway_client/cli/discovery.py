"""What a gateway says about itself. RFC 8414."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import requests

from account_gateway_client.answers import json_of, reaching
from account_gateway_client.cli.errors import CommandError, WrongUse
from account_gateway_client.cli.settings import check_address

WELL_KNOWN = "/.well-known/oauth-authorization-server"
TIMEOUT_SECONDS = 10.0

# What a sign-in asks for where no scope is named: to read, and to call models. Payments and live sessions are named.
READING = ("wallet:read", "usage:read", "orgs:read", "responses:read")
CALLING = "judgement:evaluate"
MODEL = "infer:"


@dataclass(frozen=True, slots=True)
class Metadata:
    """A gateway's addresses and scopes."""

    issuer: str
    authorization_endpoint: str
    scopes: tuple[str, ...]

    @property
    def usual_scopes(self) -> list[str]:
        """Return the scopes of a sign-in that names none."""
        usual = {*READING, CALLING}
        return [scope for scope in self.scopes if scope in usual or scope.startswith(MODEL)]

    @property
    def portal_url(self) -> str:
        """Return the address of the pages for people."""
        return self.authorization_endpoint.removesuffix("/authorize")


def metadata_of(gateway: str) -> Metadata:
    """Fetch a gateway's metadata. Raises WrongUse if it goes by another address, CommandError if it is none of a gateway,
    GatewayError and GatewayUnreachable."""
    parts = urlsplit(gateway)
    url = urlunsplit((parts.scheme, parts.netloc, WELL_KNOWN + parts.path, "", ""))
    with reaching(gateway):
        answer = requests.get(url, timeout=TIMEOUT_SECONDS, allow_redirects=False)
    if answer.status_code != requests.codes.ok:
        raise CommandError(f"{gateway} is not a gateway: {WELL_KNOWN} answers {answer.status_code}. Check the address.")
    return _read(gateway, json_of(answer))


def _read(gateway: str, body: dict[str, Any]) -> Metadata:
    issuer, scopes = body.get("issuer"), body.get("scopes_supported")
    if issuer != gateway:
        raise WrongUse(f"The gateway at {gateway} goes by the address {issuer}: use `--gateway {issuer}`.")
    try:
        endpoint = check_address(str(body.get("authorization_endpoint")))
    except ValueError:
        raise CommandError(f"{gateway} names no address to sign in at that is https, or on this computer.") from None
    named = [scope for scope in scopes if isinstance(scope, str)] if isinstance(scopes, list) else []
    return Metadata(gateway, endpoint, tuple(named))
