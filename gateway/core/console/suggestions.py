"""Rows that a form offers for a relation."""

from django.contrib.admin.views.autocomplete import AutocompleteJsonView
from django.db.models import Model

from gateway.core.console import parties


class Suggestions(AutocompleteJsonView):
    """Rows that are offered for a relation, people by name, email and DID."""

    def serialize_result(self, obj: Model, to_field_name: str) -> dict[str, str]:
        """Name one row."""
        return {**super().serialize_result(obj, to_field_name), "text": parties.label(obj)}
