"""Console page for account keys: who has one, and since when. The key itself is never shown."""

from django.contrib import admin

from gateway.core.console import PartyColumn, ReadOnlyAdmin
from integrations.models import AccountKey


@admin.register(AccountKey)
class AccountKeyAdmin(ReadOnlyAdmin):
    """The keys that the devices of an account share."""

    empty_text = "An account has one from the moment at which one of its devices asks for it."
    holder = PartyColumn("Account", "account")

    list_display = ("kid", "holder", "created_at")
    list_select_related = ("account",)
    list_filter = ("created_at",)
    search_fields = ("kid__exact", "account__did__exact")
    ordering = ("-created_at", "-kid")
    fields = ("kid", "holder", "created_at")
