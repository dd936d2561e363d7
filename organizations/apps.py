"""Registers the organizations app."""

from django.apps import AppConfig


class OrganizationsConfig(AppConfig):
    name = "organizations"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the app's part in the closing of accounts, and the exported data."""
        from accounts.operations import closing, exports
        from organizations.operations.closing import OrganizationsPart
        from organizations.queries import own_data as own

        closing.register("organizations", OrganizationsPart())
        exports.register(exports.Table("memberships", "organizations", own.MEMBERSHIPS, own.memberships))
