"""`manage.py reencrypt`: re-encrypts with the newest of FIELD_ENCRYPTION_KEYS, so that the old key can be removed."""

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
from gateway.core.encryption.bound_text import BoundTextField
from gateway.core.encryption.fields import EncryptedTextField

BATCH = 20
"""Rows in memory at once."""


class Command(BaseCommand):
    """Re-encrypts every encrypted column with the first key, all or none; then the stored responses of repeated
    requests."""

    help = "Re-encrypt every encrypted column with the first key of FIELD_ENCRYPTION_KEYS, all or none."

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the number of rows per column."""
        try:
            with transaction.atomic():
                counts = [(str(field), _reencrypt(model, field)) for model, field in _columns()]
                counts.append((Authenticator._meta.label, _reencrypt_second_factors()))  # noqa: SLF001 (documented)
        except ImproperlyConfigured as error:
            raise CommandError(f"{error} Nothing was changed.") from None
        counts.append((f"{StoredReplay._meta.label}.body", replays.reencrypt()))  # noqa: SLF001 (documented)
        for label, count in counts:
            self.stdout.write(f"{label}: {count} row{'' if count == 1 else 's'}")


def _columns() -> Iterator[tuple[type[models.Model], EncryptedTextField | BoundTextField]]:
    for model in apps.get_models():
        for field in model._meta.concrete_fields:  # noqa: SLF001 (documented)
            if isinstance(field, EncryptedTextField | BoundTextField):
                yield model, field


def _reencrypt(model: type[models.Model], field: EncryptedTextField | BoundTextField) -> int:
    count, last = 0, None
    while rows := _rows_after(last, model, field):
        for row in rows:
            row.save(update_fields=[field.name])
        count, last = count + len(rows), rows[-1].pk
    return count


def _rows_after(last: Any, model: type[models.Model], field: EncryptedTextField | BoundTextField) -> list[models.Model]:
    """Lock and read the next non-empty rows, by their keys: a conversation may be megabytes long."""
    needed = field.bound_to if isinstance(field, BoundTextField) else ()
    rows = model._default_manager.select_for_update(no_key=True).only("pk", field.name, *needed)  # noqa: SLF001
    rows = rows.exclude(**{field.name: ""}).exclude(**{f"{field.name}__isnull": True}).order_by("pk")
    return list((rows if last is None else rows.filter(pk__gt=last))[:BATCH])


def _reencrypt_second_factors() -> int:
    try:
        return second_factors.reencrypt()
    except InvalidToken:
        raise ImproperlyConfigured("No key of FIELD_ENCRYPTION_KEYS decrypts the second factors.") from None
