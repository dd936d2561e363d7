"""Operators' ready groups, for the tables that the console shows on pages of their own or of other tables."""

from django.contrib import admin

from accounts.operations import operator_roles


def keep() -> None:
    """Set the rights of the ready groups, and create those that are missing."""
    registry = admin.site._registry  # noqa: SLF001 (documented)
    operator_roles.keep([*registry, *(inline.model for one in registry.values() for inline in one.inlines)])
