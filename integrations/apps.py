"""Registers the integrations app."""

from django.apps import AppConfig


class IntegrationsConfig(AppConfig):
    name = "integrations"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the app's part in the closing of accounts."""
        from accounts.operations import closing
        from integrations.operations.closing import IntegrationsPart

        closing.register("integrations", IntegrationsPart())
