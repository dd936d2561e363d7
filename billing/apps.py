"""Registers the billing app."""

from django.apps import AppConfig


class BillingConfig(AppConfig):
    name = "billing"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register people's budgets for apps with the accounts app, whose consent page sets them."""
        from accounts.operations import app_budgets
        from billing.operations import own_budgets

        app_budgets.register(app_budgets.AppBudgets(enabled=own_budgets.of_app, set_monthly=own_budgets.put_monthly))
