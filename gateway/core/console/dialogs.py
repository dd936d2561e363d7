"""Dialogs that a page's actions open."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest


def dialog(title: str, description: str, submit: str, form: type[forms.Form] | None = None) -> dict[str, Any]:
    """Build the dialog that an action opens; without a form, it has the library's empty one."""
    shown: dict[str, Any] = {"title": title, "description": description, "form_submit_text": submit}
    return shown | ({"form_class": form} if form else {})


def may_act(request: HttpRequest, right: str, rows: QuerySet[Any], object_id: str | None) -> bool:
    """Return whether an operator has that permission for the row, or for any of the rows if none is named yet."""
    return request.user.has_perm(right) and (object_id is None or _is_among(rows, object_id))


def _is_among(rows: QuerySet[Any], object_id: str) -> bool:
    """Return whether an id from an address belongs to one of the rows; an invalid id does not."""
    try:
        return rows.filter(pk=object_id).exists()
    except (ValueError, ValidationError):
        return False
