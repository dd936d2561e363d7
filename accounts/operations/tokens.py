"""Mints access tokens. RFC 9068, RFC 9449 section 6. SPEC: Limits (300 seconds)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from accounts.operations.keyring import keyring
from accounts.rules import access_token, jwt
from accounts.rules.principal import Principal
from gateway.core.contract.ids import new_id
from gateway.core.contract.limits import ACCESS_TOKEN_SECONDS


@dataclass(frozen=True, slots=True)
class MintedToken:
    """An access token response. `expires_in` is in seconds; `scope` is separated by spaces."""

    access_token: str
    expires_in: int
    scope: str
    principal: Principal


def mint(
    *,
    did: str,
    client_id: str,
    scopes: Iterable[str],
    jkt: str,
    now: datetime,
    product: str | None = None,
    org_id: str | None = None,
    membership_id: str | None = None,
    session_id: str | None = None,
    consents: Iterable[str] = (),
    expires_at: int | None = None,
) -> MintedToken:
    """Sign a token that is bound to the proof key `jkt`. `expires_at` (Unix seconds) can shorten its lifetime."""
    issued_at = int(now.timestamp())
    latest = issued_at + ACCESS_TOKEN_SECONDS
    principal = Principal(
        did=did,
        client_id=client_id,
        scopes=frozenset(scopes),
        jkt=jkt,
        token_id=new_id("at"),
        product=product,
        org_id=org_id,
        membership_id=membership_id,
        session_id=session_id,
        issued_at=issued_at,
        expires_at=latest if expires_at is None else min(latest, expires_at),
        consents=frozenset(consents),
    )
    return MintedToken(
        _sign(principal), principal.expires_at - issued_at, " ".join(sorted(principal.scopes)), principal
    )


def _sign(principal: Principal) -> str:
    keys = keyring.current_sync()
    header = {"typ": access_token.TOKEN_TYPE, "kid": keys.signing_kid}
    base_url = settings.GATEWAY_BASE_URL
    claims = access_token.claims_of(principal, issuer=base_url, audience=base_url)
    return jwt.sign(header, claims, keys.signing_key)
