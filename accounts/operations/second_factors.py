"""Encrypts the secrets of second factors with a new key."""

from typing import Any

from allauth.mfa.models import Authenticator
from django.db import transaction
from django.db.models import Q

from gateway.core.encryption.fields import decrypt, encrypt

ROWS_AT_ONCE = 500
# The members of `Authenticator.data` in which django-allauth stores secrets. Passkeys have only public keys.
SECRETS = ("secret", "seed")
SECRET_LISTS = ("migrated_codes",)


def reencrypt() -> int:
    """Encrypt each secret with the newest key, in locked batches; return the number of rows.

    Raises InvalidToken if no key decrypts one.
    """
    last, count = 0, 0
    while rows := _reencrypt_after(last):
        last, count = rows[-1].pk, count + len(rows)
    return count


@transaction.atomic
def _reencrypt_after(last: int) -> list[Authenticator]:
    has_secret = Q(data__has_any_keys=[*SECRETS, *SECRET_LISTS])
    rows = Authenticator.objects.select_for_update(no_key=True).filter(has_secret, pk__gt=last).order_by("pk")
    found = list(rows[:ROWS_AT_ONCE])
    for row in found:
        row.data = _reencrypted(row.data)
    Authenticator.objects.bulk_update(found, ["data"])
    return found


def _reencrypted(data: dict[str, Any]) -> dict[str, Any]:
    single = {name: encrypt(decrypt(data[name])) for name in SECRETS if name in data}
    lists = {name: [encrypt(decrypt(one)) for one in data[name]] for name in SECRET_LISTS if data.get(name)}
    return {**data, **single, **lists}
