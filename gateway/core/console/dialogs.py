"""Dialogs that a page's actions open."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest


def dialog(title: str, description: str, submit: str, form: type[forms.Form] | None = None) -> dict[str, Any]:
    """Make the dialog that an action opens; its form is the library's empty one where none is given."""
    shown: dict[str, Any] = {"title": title, "description": description, "form_submit_text": submit}
    return shown | ({"form_class": form} if form else {})


def may_act(request: HttpRequest, right: str, rows: QuerySet[Any], object_id: str | None) -> bool:
    """Return whether an operator has that right: on one of these rows, or on any where none is named yet."""
    return request.user.has_perm(right) and (object_id is None or _is_among(rows, object_id))


def _is_among(rows: QuerySet[Any], object_id: str) -> bool:
    """Return whether an id of an address is that of one of the rows; one that no row can have is not."""
    try:
        return rows.filter(pk=object_id).exists()
    except (ValueError, ValidationError):
        return False
