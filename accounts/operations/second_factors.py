"""Encrypts the secrets of second factors, for the first time or with a new key."""

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.db.models import Q

from gateway.core.fields import decrypt, encrypt, is_encrypted

ROWS_AT_ONCE = 500
# Where django-allauth keeps them in `Authenticator.data`. Passkeys have public keys alone.
SECRETS = ("secret", "seed")
SECRET_LISTS = ("migrated_codes",)


def encrypted(text: str) -> str:
    """Return a secret encrypted, whether or not it was before."""
    return text if is_encrypted(text) else encrypt(text)


def decrypted(text: str) -> str:
    """Return a plain secret. Raises InvalidToken where no key fits."""
    return decrypt(text) if is_encrypted(text) else text


def encrypted_anew(text: str) -> str:
    """Return a secret under the newest key, whatever it was under. Raises InvalidToken where no key fits."""
    return encrypt(decrypted(text))


def write_anew(authenticators: Any, change: Callable[[str], str]) -> int:
    """Put each secret of the model's rows through `change`, some rows at a time under lock; return how many rows."""
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
