"""Autocompletion of relations in forms."""

from django.contrib.admin.views.autocomplete import AutocompleteJsonView
from django.db.models import Model

from gateway.core.console import parties


class Suggestions(AutocompleteJsonView):
    """Suggested rows for a relation; people with name, email and DID."""

    def serialize_result(self, obj: Model, to_field_name: str) -> dict[str, str]:
        return {**super().serialize_result(obj, to_field_name), "text": parties.label(obj)}
