"""Registers the organizations app."""

from django.apps import AppConfig


class OrganizationsConfig(AppConfig):
    name = "organizations"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the app's part in the closing of accounts, the exported data, and the mails about organizations."""
        from accounts.operations import closing, exports
        from gateway.core.events import mail_people, registry
        from organizations.operations.closing import OrganizationsPart
        from organizations.queries import mail_people as people
        from organizations.queries import mails
        from organizations.queries import own_data as own

        closing.register("organizations", OrganizationsPart())
        exports.register(exports.Table("memberships", "organizations", own.MEMBERSHIPS, own.memberships))
        mail_people.register(
            "organization",
            mail_people.Owners(people.name_of, people.money_managers, people.page, people.concerns, people.member),
        )
        registry.register_mails(mails.MAILS)
