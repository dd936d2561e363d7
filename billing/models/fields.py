"""Column types that the ledger's tables share."""

from typing import Any

from django.db import models


class KeyField(models.TextField):
    """An opaque key: text compared byte by byte.

    The type's qualified name keeps Django from adding a second (LIKE) index to every unique text column; the hot
    tables would pay for it on every insert and never use it.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"db_collation": "C", **kwargs})

    def db_type(self, connection: Any) -> str:
        return "pg_catalog.text"


class MicrousdField(models.BigIntegerField):
    """An amount of money in whole micro-USD (1 USD = 1,000,000)."""
