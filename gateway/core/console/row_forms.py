"""The form of a row in a table of a page."""

from typing import Any

from django import forms
from django.forms.utils import pretty_name


class RowForm(forms.ModelForm):
    """A row whose fields are named for screen readers: the head of a column is no label."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            inner = getattr(field.widget, "widget", None)  # of a relation, inside the links to its row
            widget: forms.Widget = inner or field.widget
            widget.attrs.setdefault("aria-label", str(field.label or pretty_name(name)))
