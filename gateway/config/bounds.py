"""The bounds of numbers in the file: those of their columns."""

from typing import Any

from annotated_types import Interval
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models


def bounds(model: type[models.Model], name: str) -> Interval:
    """Return the least and the greatest value that a column's validators accept, for `Annotated`."""
    column: Any = model._meta.get_field(name)  # noqa: SLF001 (documented)
    least = [each.limit_value for each in column.validators if isinstance(each, MinValueValidator)]
    greatest = [each.limit_value for each in column.validators if isinstance(each, MaxValueValidator)]
    return Interval(ge=max(least), le=min(greatest))
