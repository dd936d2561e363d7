"""Encrypts the secrets of second factors, initially or with a new key."""

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.db.models import Q

from gateway.core.encryption.fields import decrypt, encrypt, is_encrypted

ROWS_AT_ONCE = 500
# The members of `Authenticator.data` in which django-allauth stores secrets. Passkeys have only public keys.
SECRETS = ("secret", "seed")
SECRET_LISTS = ("migrated_codes",)


def encrypted(text: str) -> str:
    """Return a secret encrypted, unless it already is."""
    return text if is_encrypted(text) else encrypt(text)


def decrypted(text: str) -> str:
    """Return a secret decrypted. Raises InvalidToken if no key fits."""
    return decrypt(text) if is_encrypted(text) else text


def reencrypted(text: str) -> str:
    """Return a secret encrypted with the newest key. Raises InvalidToken if no key decrypts it."""
    return encrypt(decrypted(text))


def rewrite(authenticators: Any, change: Callable[[str], str]) -> int:
    """Apply `change` to each secret of the model's rows, in locked batches; return the number of rows."""
    last, count = 0, 0
    while rows := _rewrite(authenticators, last, change):
        last, count = rows[-1].pk, count + len(rows)
    return count


@transaction.atomic
def _rewrite(authenticators: Any, after: int, change: Callable[[str], str]) -> list[Any]:
    has_secret = Q(data__has_any_keys=[*SECRETS, *SECRET_LISTS])
    rows = authenticators.objects.select_for_update(no_key=True).filter(has_secret, pk__gt=after).order_by("pk")
    found = list(rows[:ROWS_AT_ONCE])
    for row in found:
        row.data = _changed(row.data, change)
    authenticators.objects.bulk_update(found, ["data"])
    return found


def _changed(data: dict[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    single = {name: change(data[name]) for name in SECRETS if name in data}
    lists = {name: [change(one) for one in data[name]] for name in SECRET_LISTS if data.get(name)}
    return {**data, **single, **lists}
