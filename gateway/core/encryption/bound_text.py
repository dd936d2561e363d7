"""A model field for text that is stored encrypted and bound to its row: copied to another one, it cannot be read there.

The keys are those of `fields`, the cipher is that of `stored_bytes`. What an earlier version stored with Fernet is read too, and
is bound when its row is saved again (`manage.py reencrypt`).
"""

from collections.abc import Sequence
from typing import Any

from cryptography.fernet import InvalidToken
from django.core.exceptions import ImproperlyConfigured
from django.db import models

from gateway.core.django_internals import FieldAttribute
from gateway.core.encryption.stored_bytes import decrypt_text, encrypt_text


class Token(str):
    """Text as it is stored, encrypted."""

    __slots__ = ()


class _Attribute(FieldAttribute):
    """Decrypts when it is first read: only then does a row know what it is bound to."""

    field: "BoundTextField"

    def __get__(self, instance: Any, cls: Any = None) -> Any:
        value = super().__get__(instance, cls)
        if isinstance(value, Token):
            value = instance.__dict__[self.field.attname] = self.field.decrypted(value, instance)
        return value

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__[self.field.attname] = value


class BoundTextField(models.TextField):
    """Text that is encrypted before it reaches the database, and is bound to fields of its row that never change.

    Rows are saved as usual. Where a statement writes or reads the column (`update`, `values_list`), it holds a `Token`.
    """

    descriptor_class = _Attribute

    def __init__(self, *args: Any, bound_to: Sequence[str] = ("pk",), **options: Any) -> None:
        super().__init__(*args, **options)
        self.bound_to = tuple(bound_to)

    def deconstruct(self) -> Any:
        """Return what migrations need to rebuild the field, including what it is bound to."""
        name, path, args, options = super().deconstruct()
        return name, path, args, {**options, "bound_to": list(self.bound_to)} if self.bound_to != ("pk",) else options

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:
        """Encrypt; empty text stays empty."""
        value = super().pre_save(model_instance, add)
        return Token(encrypt_text(str(value).encode(), self.place(model_instance))) if value else value

    def get_prep_value(self, value: Any) -> Any:
        """Check that the value is encrypted. Raises TypeError."""
        if value and not isinstance(value, Token):
            raise TypeError(f"{self.model.__name__}.{self.name} is encrypted for one row: save the row.")
        return value and str(value)

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        """Return the stored text marked as encrypted."""
        return Token(value) if value else value

    def decrypted(self, token: str, row: models.Model) -> str:
        """Return the text of this row. Raises ImproperlyConfigured where no configured key fits, or it is another row's."""
        try:
            return decrypt_text(token, self.place(row)).decode()
        except InvalidToken:
            raise ImproperlyConfigured(
                f"No key of FIELD_ENCRYPTION_KEYS decrypts {self.model.__name__}.{self.name} in its row."
            ) from None

    def place(self, row: models.Model) -> str:
        """Name the one place where this text is read."""
        return place_of(self.model._meta.db_table, self.attname, *(getattr(row, name) for name in self.bound_to))  # noqa: SLF001 (documented)


def place_of(table: str, column: str, *bound_to: Any) -> str:
    """Name a column of a row by what it is bound to. No value but the last may hold a colon."""
    return ":".join((table, column, *map(str, bound_to)))
