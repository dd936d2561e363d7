"""Verifies the access tokens of requests. RFC 9068 section 4.

A client sends the same token with every request for five minutes, so its signature is checked only once. Only the
token's hash is cached, never the token, and only until about the time at which the token expires.
"""

from django.conf import settings

from accounts.operations.keyring import keyring
from accounts.rules import access_token, jwt
from accounts.rules.bounded_cache import BoundedCache
from accounts.rules.principal import Principal
from gateway.core.contract.errors import InvalidToken

REMEMBERED_MAX_BYTES = 32 * 1024 * 1024
PRINCIPAL_BYTES = 1200  # the approximate size of a principal without the token's strings

_known: BoundedCache[bytes, tuple[str, Principal]] = BoundedCache(REMEMBERED_MAX_BYTES)


def holder_of(token: str, digest: bytes, now: float) -> Principal:
    """Return the holder of a token at Unix time `now`, or raise InvalidToken or NotReady. `digest` is the token's
    SHA-256.

    For a token that was verified before, only its expiry and its key's state are checked.
    """
    known = _known.get(digest)
    kid, principal = known or _verify(token)
    if keyring.verifying_key(kid) is None:
        raise InvalidToken(private="the signing key is retired")
    if not now < principal.expires_at:
        raise InvalidToken("The access token has expired.")
    if known is None:
        _known.evict(lambda oldest: oldest[1].expires_at <= now)
        _known.put(digest, (kid, principal), PRINCIPAL_BYTES + len(token))
    return principal


def _verify(token: str) -> tuple[str, Principal]:
    base_url = settings.GATEWAY_BASE_URL
    try:
        jws = jwt.parse(token)
        key = keyring.verifying_key(jws.header.get("kid"))
        if key is None or jws.header.get("typ") != access_token.TOKEN_TYPE:
            raise InvalidToken(private="typ or kid does not belong to an access token")
        jwt.verify(jws, key)
        return key.thumbprint, access_token.principal_of(jws.claims, issuer=base_url, audience=base_url)
    except ValueError as error:
        raise InvalidToken(private=str(error)) from None
