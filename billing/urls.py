"""Routes of wallets and usage. SPEC: Endpoints, Account and access."""

from django.urls import path

from billing.views.usage import UsageView
from billing.views.wallet import WalletView

urlpatterns = [
    path("v1/wallet", WalletView.as_view({"get": "retrieve"})),
    path("v1/usage", UsageView.as_view({"get": "list"})),
]
