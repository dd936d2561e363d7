"""`manage.py reencrypt`, after a new key was put in front of FIELD_ENCRYPTION_KEYS: the old one can then go."""

from collections.abc import Iterator
from typing import Any

from allauth.mfa.models import Authenticator
from cryptography.fernet import InvalidToken
from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError
from django.db import models, transaction

from accounts.operations import second_factors
from billing.models import StoredReplay
from billing.operations import replays
from gateway.core.fields import EncryptedTextField

BATCH = 20
"""Rows in memory at once."""


class Command(BaseCommand):
    """Write every encrypted column anew with the first key, all or none; then the answers kept for repeated requests."""

    help = "Re-encrypt every encrypted column with the first key of FIELD_ENCRYPTION_KEYS, all or none."

    def handle(self, *args: Any, **options: Any) -> None:
        """Print how many rows of each column there were."""
        try:
            with transaction.atomic():
                counts = [(label, _reencrypt(model, name)) for label, model, name in _columns()]
                counts.append((Authenticator._meta.label, _reencrypt_second_factors()))  # noqa: SLF001 (documented)
        except ImproperlyConfigured as error:
            raise CommandError(f"{error} Nothing was changed.") from None
        counts.append((f"{StoredReplay._meta.label}.body", replays.reencrypt()))  # noqa: SLF001 (documented)
        for label, count in counts:
            self.stdout.write(f"{label}: {count} row{'' if count == 1 else 's'}")


def _columns() -> Iterator[tuple[str, type[models.Model], str]]:
    for model in apps.get_models():
        for field in model._meta.concrete_fields:  # noqa: SLF001 (documented)
            if isinstance(field, EncryptedTextField):
                yield f"{model._meta.label}.{field.name}", model, field.name  # noqa: SLF001


def _reencrypt(model: type[models.Model], name: str) -> int:
    count, last = 0, None
    while rows := _rows_after(last, model, name):
        for row in rows:
            row.save(update_fields=[name])
        count, last = count + len(rows), rows[-1].pk
    return count


def _rows_after(last: Any, model: type[models.Model], name: str) -> list[models.Model]:
    """Lock and read the next rows that hold something, by their keys: a conversation may be megabytes long."""
    rows = model._default_manager.select_for_update(no_key=True).exclude(**{name: ""}).only("pk", name)  # noqa: SLF001
    rows = rows.exclude(**{f"{name}__isnull": True}).order_by("pk")
    return list((rows if last is None else rows.filter(pk__gt=last))[:BATCH])


def _reencrypt_second_factors() -> int:
    try:
        return second_factors.write_anew(Authenticator, second_factors.encrypted_anew)
    except InvalidToken:
        raise ImproperlyConfigured("No key of FIELD_ENCRYPTION_KEYS decrypts the second factors.") from None
