"""Operators' ready groups, for the tables that the console shows on pages of their own or of other tables."""

from django.apps import apps
from django.contrib import admin

from accounts.operations import operator_roles


def keep() -> None:
    """Set the rights of the ready groups, and create those that are missing."""
    admin.autodiscover()
    tables = [table for table in apps.get_models() if admin.site.is_registered(table)]
    inlines = [inline.model for table in tables for inline in admin.site.get_model_admin(table).inlines]
    operator_roles.keep([*tables, *inlines])
