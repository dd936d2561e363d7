"""Renders rows for one statement that inserts several: each statement of its own costs as much as a tenth of a metered call."""

import json
from functools import cache
from typing import Any

from django.db.models import Model


@cache
def columns(model: type[Model]) -> str:
    """List a table's columns, without the key that the database gives."""
    return ", ".join(f'"{field.column}"' for field in model._meta.concrete_fields if not field.primary_key)


def rendered(*rows: Model) -> str:
    """Render unsaved rows for `json_populate_recordset`."""
    return json.dumps([_members(row) for row in rows], default=str)


def _members(row: Model) -> dict[str, Any]:
    fields = row._meta.concrete_fields
    return {str(field.column): field.get_prep_value(getattr(row, field.attname)) for field in fields}
