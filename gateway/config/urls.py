"""The address types of rows."""

from typing import Annotated

from pydantic import AfterValidator, StringConstraints

from accounts.rules import dids
from gateway.core.contract.addresses import REDIRECT_WORDS, WEB_WORDS, is_redirect_uri, is_web_address


def _base_url(value: str) -> str:
    if not is_web_address(value):
        raise ValueError(WEB_WORDS)
    return value.rstrip("/")


def _party(value: str) -> str:
    """Check a name of a party in a JWT: an address or a DID, later compared as exact text."""
    if not dids.is_party(value):
        raise ValueError(f"{WEB_WORDS}, or a DID")
    return value


def _redirect_uri(value: str) -> str:
    if not is_redirect_uri(value):
        raise ValueError(REDIRECT_WORDS)
    return value


BaseUrl = Annotated[str, StringConstraints(max_length=500), AfterValidator(_base_url)]
Party = Annotated[str, StringConstraints(max_length=255), AfterValidator(_party)]
RedirectUri = Annotated[str, StringConstraints(max_length=2048), AfterValidator(_redirect_uri)]
