"""Registers the project's commands, start-up checks and SQL functions, and says where errors are explained."""

from typing import Any

from django.apps import AppConfig, apps
from django.conf import settings
from django.db.models.signals import post_migrate
from django.utils import timezone

from gateway.core.contract.error_docs import ErrorDocs
from gateway.core.contract.log_lines import JSON
from gateway.core.runtime.json_logs import log_everything


class GatewayConfig(AppConfig):
    name = "gateway"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the start-up checks, what else is logged, the address of the errors' documentation and the installation of SQL functions."""
        from gateway.core import checks  # noqa: F401

        if settings.LOG_FORMAT == JSON:
            log_everything()
        ErrorDocs.base_url = lambda: str(settings.GATEWAY_BASE_URL)

        # The signal is sent once per app; it is handled for this one, which has models, as the sender must.
        post_migrate.connect(_install, sender=apps.get_app_config("inference"))
        # After the last app with tables, when every table's rights exist.
        last = [config for config in apps.get_app_configs() if config.models_module is not None][-1]
        post_migrate.connect(_keep_roles, sender=last)


def _install(**signal: Any) -> None:
    """Install SQL functions and triggers, then the missing indexes and triggers of monthly tables, and arm alerts of wallets
    that were there before."""
    from billing.operations import alerts, ledger_months
    from gateway.core.database import sql

    if sql.after_migrate(**signal):
        ledger_months.tend()
        alerts.arm_all(now=timezone.now())


def _keep_roles(**signal: Any) -> None:
    """Set the rights of operators' ready groups."""
    from gateway import operator_roles
    from gateway.core.database import sql

    if sql.is_complete(**signal):
        operator_roles.keep()
