"""Registers the accounts app."""

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AccountsConfig(AppConfig):
    name = "accounts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the start-up checks, and start the epoch of the replay store after migrations or a flush."""
        from accounts import checks  # noqa: F401

        post_migrate.connect(_begin_epoch, sender=self)


def _begin_epoch(using: str, **kwargs: Any) -> None:
    from accounts.operations.replays import begin_epoch

    begin_epoch(using=using)
