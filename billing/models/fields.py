"""Column types that the ledger's tables share."""

from typing import Any

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from gateway.core.contract.limits import RATE_LIMIT_MAX


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


class RateField(models.BigIntegerField):
    """A number of requests, tokens or calls from 1 to RATE_LIMIT_MAX; null is no limit."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("validators", [MinValueValidator(1), MaxValueValidator(RATE_LIMIT_MAX)])
        super().__init__(*args, **{"null": True, "blank": True, **kwargs})
