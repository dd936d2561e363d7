"""Registers the project itself, for its commands, its start-up checks and its SQL functions."""

from typing import Any

from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate


class GatewayConfig(AppConfig):
    name = "gateway"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the start-up checks, and the functions' installation."""
        from gateway.core import checks  # noqa: F401

        # The signal is sent once for every app; this one has models, as a sender must.
        post_migrate.connect(_install, sender=apps.get_app_config("inference"))


def _install(**signal: Any) -> None:
    """Install the SQL functions and triggers, then what tables of old months lack of the hot ones' indexes and guards."""
    from billing.operations import ledger_months
    from gateway.core import sql

    if sql.after_migrate(**signal):
        ledger_months.tend()
