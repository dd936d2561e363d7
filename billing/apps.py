"""Registers the billing app."""

from django.apps import AppConfig


class BillingConfig(AppConfig):
    name = "billing"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register people's budgets for apps with the accounts app, whose consent page sets them, its part in the closing of
        accounts, the exported data, what events of calls say, and the mails about money."""
        from accounts.operations import app_budgets, closing, exports
        from billing.operations import own_budgets
        from billing.operations.closing import BillingPart
        from billing.queries import mails
        from billing.queries import own_data as own
        from billing.serializers.usage_events import render_usage_event
        from gateway.core.events import registry
        from gateway.core.events.registry import EventKind

        registry.register(
            *(EventKind(f"usage.{state}", body=render_usage_event) for state in ("settled", "released", "reconciling"))
        )
        app_budgets.register(app_budgets.AppBudgets(enabled=own_budgets.of_app, set_monthly=own_budgets.put_monthly))
        closing.register("billing", BillingPart())
        exports.register(
            exports.Table("wallet", "what is in the wallet", own.WALLET, own.wallet),
            exports.Table("payments", "payments", own.PAYMENTS, own.payments),
            exports.Table("automatic_top_up", "automatic top-up", own.AUTO_TOP_UP, own.auto_top_up),
            exports.Table("automatic_charges", "automatic charges", own.AUTO_CHARGES, own.auto_charges),
            exports.Table("credits", "credits", own.CREDITS, own.credits),
            exports.Table("budgets", "budgets", own.BUDGETS, own.own_budgets),
            exports.Table("calls", "calls; a usage_id is the id of a call's receipt, too", own.CALLS, own.calls),
        )
        registry.register_mails(mails.MAILS)
