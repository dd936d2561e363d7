"""Registers the organizations app."""

from django.apps import AppConfig


class OrganizationsConfig(AppConfig):
    name = "organizations"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the exported data."""
        from accounts.operations import exports
        from organizations.queries import own_data as own

        exports.register(exports.Table("memberships", "organizations", own.MEMBERSHIPS, own.memberships))
