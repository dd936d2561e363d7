"""URLs of the wallet's pages."""

from django.urls import path

from billing.portal.views import payments, usage, wallet

urlpatterns = [
    path("wallet", wallet.index, name="portal_wallet"),
    path("wallet/payments", payments.index, name="portal_payments"),
    path("wallet/payments/<str:transaction_id>", payments.show, name="portal_payment"),
    path("wallet/payments/<str:transaction_id>/receipt", payments.receipt, name="portal_receipt"),
    path("wallet/usage", usage.index, name="portal_usage"),
    path("wallet/usage.csv", usage.export, name="portal_usage_csv"),
    path("wallet/usage/<str:usage_id>", usage.call, name="portal_call"),
]
