"""Routes of wallets, usage and checkout. SPEC: Endpoints, Account and access."""

from django.urls import path

from billing.views import webhooks
from billing.views.checkout import CheckoutView
from billing.views.usage import UsageView
from billing.views.wallet import WalletView

urlpatterns = [
    path("v1/wallet", WalletView.as_view({"get": "retrieve"})),
    path("v1/usage", UsageView.as_view({"get": "list"})),
    path("v1/billing/checkout", CheckoutView.as_view({"post": "create"})),
    path("webhooks/stripe", webhooks.stripe),
]
