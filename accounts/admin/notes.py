"""Console page of operators' notes about customers. They are written on the customers' pages, and never changed."""

from django.contrib import admin

from accounts.models import Note
from gateway.core.console import PartyColumn, ReadOnlyAdmin


@admin.register(Note)
class NoteAdmin(ReadOnlyAdmin):
    """Notes, newest first."""

    empty_text = "Search for a customer, and add a note on their page."
    owner = PartyColumn("About", "owner_key", kind_path="owner_kind")
    writer = PartyColumn("By", "author")

    list_display = ("created_at", "owner", "text", "writer")
    list_select_related = ("author",)
    search_fields = ("id__exact", "owner_key__exact")
    party_fields = ("owner_key",)
    search_help_text = "Part of a name, email address or DID, or a complete ID."
    ordering = ("-id",)
    fields = ("created_at", "owner", "text", "writer")
