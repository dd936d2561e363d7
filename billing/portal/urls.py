"""The addresses of the wallet's pages."""

from django.urls import path

from billing.portal.views import payments, wallet

urlpatterns = [
    path("wallet", wallet.index, name="portal_wallet"),
    path("wallet/payments", payments.add, name="portal_add_money"),
    path("wallet/payments/<str:transaction_id>", payments.show, name="portal_payment"),
]
