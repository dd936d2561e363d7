"""Registers the organizations app."""

from django.apps import AppConfig


class OrganizationsConfig(AppConfig):
    name = "organizations"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the app's part in the closing of accounts, the exported data, which products get events of organizations, and
        the mails about organizations."""
        from accounts.operations import closing, exports
        from gateway.core.events import mail_people, registry
        from gateway.core.events.registry import EventKind
        from organizations.operations.closing import OrganizationsPart
        from organizations.queries import audiences, mails
        from organizations.queries import mail_people as people
        from organizations.queries import own_data as own

        closing.register("organizations", OrganizationsPart())
        exports.register(exports.Table("memberships", "organizations", own.MEMBERSHIPS, own.memberships))
        of_owners = ("wallet.credited", "wallet.low", "wallet.empty")
        of_organizations = (
            *("budget.threshold", "invoice.issued", "invoice.paid", "invoice.past_due"),
            *("membership.created", "membership.removed"),
        )
        registry.register(
            *(EventKind(name, audience=audiences.of_owner) for name in of_owners),
            *(EventKind(name, audience=audiences.of_organization) for name in of_organizations),
            *(EventKind(name) for name in ("seat.assigned", "seat.revoked")),
        )
        mail_people.register(
            "organization",
            mail_people.Owners(people.name_of, people.money_managers, people.page, people.concerns, people.member),
        )
        registry.register_mails(mails.MAILS)
