"""Caches the signing keys in each process for a few seconds.

Requests read the cache without I/O. An unknown key id causes an early refresh, but at most once a second, so that
made-up key ids cause no load.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric import ec
from django.db import connection
from django.utils import timezone

from accounts.models import SigningKey
from accounts.operations import signing_keys
from accounts.rules import jwk, key_pairs
from gateway.core.contract.errors import NotReady
from gateway.core.runtime.snapshots import Snapshot

FRESH_SECONDS = 5.0
USABLE_SECONDS = 15.0  # if the database is unavailable for longer, the keys are not used either
RETRY_SECONDS = 1.0


class KeysOutdated(NotReady):
    """The cached keys are too old to tell whether this key exists. Retry once they have been refreshed."""


@dataclass(frozen=True, slots=True)
class SigningKeys:
    """The published keys by `kid`, as JWKs and as verifying keys; `signing_kid` and `signing_key` are the active
    one."""

    verifying: Mapping[str, jwk.PublicKey]
    jwks: tuple[dict[str, str], ...]
    signing_kid: str
    signing_key: ec.EllipticCurvePrivateKey


def _read() -> SigningKeys:
    active = signing_keys.ensure_active_key(now=timezone.now())
    published = SigningKey.objects.filter(state__in=signing_keys.PUBLISHED).order_by("id")
    verifying = {key.kid: jwk.parse(key.public_jwk) for key in published}
    return SigningKeys(
        verifying=verifying,
        jwks=tuple(key_pairs.published(kid, key) for kid, key in verifying.items()),
        signing_kid=active.kid,
        signing_key=key_pairs.private_key(active.private_pem),
    )


class Keyring(Snapshot[SigningKeys]):
    """Caches the keys and refreshes them."""

    def __init__(self) -> None:
        super().__init__(_read, name="signing keys", fresh_seconds=FRESH_SECONDS, usable_seconds=USABLE_SECONDS)

    def warm(self) -> None:
        """Read the keys before the first request, in a thread that does not have a connection yet."""
        try:
            self.current_sync()
        finally:
            connection.close()

    def verifying_key(self, kid: object) -> jwk.PublicKey | None:
        """Return a published key by its id (a value of any type), or None. Does no I/O. Raises KeysOutdated."""
        if not isinstance(kid, str):
            return None
        key = self.cached().verifying.get(kid) if self.is_usable else None
        if key is None and self.age_seconds >= RETRY_SECONDS:
            raise KeysOutdated(headers={"Retry-After": "1"}, private="the signing keys cannot be read")
        return key


keyring = Keyring()
