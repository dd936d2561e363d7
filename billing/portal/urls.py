"""URLs of the pages about a person's money: wallet, and budgets of apps."""

from django.urls import path

from billing.portal.views import alerts, apps, auto_top_up, payments, usage, wallet

urlpatterns = [
    path("apps", apps.index, name="portal_apps"),
    path("apps/revoke", apps.revoke, name="portal_revoke_app"),
    path("apps/budgets/<str:budget_id>/disable", apps.disable, name="portal_disable_budget"),
    path("wallet", wallet.index, name="portal_wallet"),
    path("wallet/alerts", alerts.index, name="portal_alerts"),
    path("wallet/alerts/mails", alerts.switch, name="portal_mail_switches"),
    path("wallet/auto-top-up", auto_top_up.index, name="portal_auto_top_up"),
    path("wallet/auto-top-up/off", auto_top_up.turn_off, name="portal_auto_top_up_off"),
    path("wallet/auto-top-up/confirm", auto_top_up.confirm, name="portal_auto_top_up_confirm"),
    path("wallet/payment-method", auto_top_up.keep_method, name="portal_keep_method"),
    path("wallet/payment-method/remove", auto_top_up.remove_method, name="portal_remove_method"),
    path("wallet/payments", payments.index, name="portal_payments"),
    path("wallet/payments/<str:transaction_id>", payments.show, name="portal_payment"),
    path("wallet/payments/<str:transaction_id>/receipt", payments.receipt, name="portal_receipt"),
    path("wallet/usage", usage.index, name="portal_usage"),
    path("wallet/usage.csv", usage.export, name="portal_usage_csv"),
    path("wallet/usage/<str:usage_id>", usage.call, name="portal_call"),
    path("wallet/usage/<str:usage_id>/receipt", usage.receipt, name="portal_call_receipt"),
]
