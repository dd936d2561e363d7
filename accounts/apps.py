"""Registers the accounts app."""

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AccountsConfig(AppConfig):
    name = "accounts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the start-up checks, the exported data, and the app's events and mails, and start the epoch of the replay store
        after migrations or a flush."""
        from accounts import checks  # noqa: F401
        from accounts.operations import exports
        from accounts.queries import audiences, mails
        from accounts.queries import mail_people as people
        from accounts.queries import own_data as own
        from gateway.core.events import mail_people, registry
        from gateway.core.events.registry import EventKind

        exports.register(
            exports.TextFile("account.json", "the account", own.account),
            exports.Table("email_addresses", "its addresses", own.EMAIL_ADDRESSES, own.email_addresses),
            exports.Table("sign_in_methods", "passkeys and the like", own.SIGN_IN_METHODS, own.sign_in_methods),
            exports.Table("browsers", "browsers that are signed in", own.BROWSERS, own.browsers),
            exports.Table("devices", "apps that are or were signed in", own.DEVICES, own.devices),
            exports.Table("consents", "consents beyond scopes", own.CONSENTS, own.consents),
            exports.Table("mails", "what you were told, by mail or in the portal", own.MAILS, own.mails),
            exports.Table("mails_turned_off", "mails that you turned off", own.MAILS_TURNED_OFF, own.mails_turned_off),
        )

        registry.register(
            EventKind("device_session.revoked", audience=lambda event: audiences.of_account(event.owner_key))
        )
        owners = mail_people.Owners(people.own_name, people.of_account, people.page, people.concerns)
        mail_people.register("account", owners)
        registry.register_mails(mails.MAILS)

        post_migrate.connect(_begin_epoch, sender=self)


def _begin_epoch(using: str, **kwargs: Any) -> None:
    from accounts.operations.replays import begin_epoch

    begin_epoch(using=using)
