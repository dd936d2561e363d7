"""Routes of wallets, usage and checkout. SPEC: Endpoints, Account and access."""

from django.urls import path

from accounts.portal_authentication import PortalSession
from billing.views import webhooks
from billing.views.alerts import AlertsViewSet
from billing.views.auto_top_up import AutoTopUpViewSet
from billing.views.budgets import BudgetViewSet
from billing.views.checkout import CheckoutViewSet
from billing.views.usage import UsageViewSet
from billing.views.wallet import WalletViewSet

# The API reference describes the routes under /v1.
PORTAL = {"authentication_classes": [PortalSession], "schema": None}

urlpatterns = [
    path("v1/wallet", WalletViewSet.as_view({"get": "retrieve"})),
    path("v1/account/budgets", BudgetViewSet.as_view({"get": "list"})),
    path("v1/usage", UsageViewSet.as_view({"get": "list"})),
    path("v1/usage/<str:usage_id>", UsageViewSet.as_view({"get": "retrieve"})),
    path("v1/usage/<str:usage_id>/receipt", UsageViewSet.as_view({"get": "receipt"})),
    path("v1/billing/checkout", CheckoutViewSet.as_view({"post": "create"})),
    path("api/account/alerts", AlertsViewSet.as_view({"get": "retrieve", "put": "update"}, **PORTAL)),
    path("api/account/auto-top-up", AutoTopUpViewSet.as_view({"get": "retrieve", "put": "update"}, **PORTAL)),
    path("webhooks/stripe", webhooks.stripe),
]
