"""Caches the keys of receipts in each process for a few seconds, and signs by the active one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from django.utils import timezone

from accounts.models import ReceiptKey
from accounts.operations import receipt_keys
from accounts.rules import jwk, jwt, key_pairs
from gateway.core.runtime.snapshots import Snapshot

TYPE = "receipt+jwt"

FRESH_SECONDS = 5.0
USABLE_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class ReceiptKeys:
    """The published keys as JWKs, and the active one."""

    jwks: tuple[dict[str, str], ...]
    signing_kid: str
    signing_key: ec.EllipticCurvePrivateKey


def _read() -> ReceiptKeys:
    active = receipt_keys.ensure_active_key(now=timezone.now())
    published = ReceiptKey.objects.filter(state__in=receipt_keys.PUBLISHED).only("kid", "public_jwk").order_by("id")
    return ReceiptKeys(
        jwks=tuple(key_pairs.published(key.kid, jwk.parse(key.public_jwk)) for key in published),
        signing_kid=active.kid,
        signing_key=key_pairs.private_key(active.private_pem),
    )


class ReceiptKeyring(Snapshot[ReceiptKeys]):
    """Caches the keys and refreshes them."""

    def __init__(self) -> None:
        super().__init__(_read, name="receipt keys", fresh_seconds=FRESH_SECONDS, usable_seconds=USABLE_SECONDS)

    def sign(self, claims: Mapping[str, Any]) -> str:
        """Return a compact JWS of type `receipt+jwt`. Raises NotReady if the keys cannot be read."""
        keys = self.current_sync()
        return jwt.sign({"typ": TYPE, "kid": keys.signing_kid}, claims, keys.signing_key)


receipt_keyring = ReceiptKeyring()
