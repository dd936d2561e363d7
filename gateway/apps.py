"""Registers the project itself, for its commands and start-up checks."""

from django.apps import AppConfig


class GatewayConfig(AppConfig):
    name = "gateway"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the start-up checks."""
        from gateway import checks  # noqa: F401
