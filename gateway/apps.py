"""Registers the project itself, for its commands, its start-up checks and its SQL functions."""

from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate


class GatewayConfig(AppConfig):
    name = "gateway"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the start-up checks, and the functions' installation."""
        from gateway.core import checks, sql  # noqa: F401

        # The signal is sent once for every app; this one has models, as a sender must.
        post_migrate.connect(sql.after_migrate, sender=apps.get_app_config("inference"))
