"""Registers the accounts app."""

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AccountsConfig(AppConfig):
    name = "accounts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the start-up checks, the exported data and the app's events, and start the epoch of the replay store after
        migrations or a flush."""
        from accounts import checks  # noqa: F401
        from accounts.operations import exports
        from accounts.queries import audiences
        from accounts.queries import own_data as own
        from gateway.core.events import registry
        from gateway.core.events.registry import EventKind

        exports.register(
            exports.TextFile("account.json", "the account", own.account),
            exports.Table("email_addresses", "its addresses", own.EMAIL_ADDRESSES, own.email_addresses),
            exports.Table("sign_in_methods", "passkeys and the like", own.SIGN_IN_METHODS, own.sign_in_methods),
            exports.Table("browsers", "browsers that are signed in", own.BROWSERS, own.browsers),
            exports.Table("devices", "apps that are or were signed in", own.DEVICES, own.devices),
            exports.Table("consents", "consents beyond scopes", own.CONSENTS, own.consents),
        )

        registry.register(
            EventKind("device_session.revoked", audience=lambda event: audiences.of_account(event.owner_key))
        )

        post_migrate.connect(_begin_epoch, sender=self)


def _begin_epoch(using: str, **kwargs: Any) -> None:
    from accounts.operations.replays import begin_epoch

    begin_epoch(using=using)
