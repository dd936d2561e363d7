"""Routes of organizations. SPEC: Organizations, seats, shared billing.

The same viewsets are mounted twice: under /v1 for tokens, under /api/organizations for the portal's session.
"""

from typing import Any

from django.urls import URLPattern, path

from gateway.core.api.viewsets import ApiViewSet
from organizations.portal.session import PortalSession
from organizations.views.billing import (
    BudgetsView,
    OrganizationBillingViewSet,
    OrganizationUsageView,
    PaymentsView,
)
from organizations.views.context import ContextView
from organizations.views.invitations import AcceptanceView, InvitationsView
from organizations.views.members import MembersView
from organizations.views.organizations import OrganizationDetailView, OrganizationsView
from organizations.views.products import MaxSeatsView, ProductsView
from organizations.views.seats import AccessView, SeatAssignmentView, SeatsView

# The reference describes the routes once, under /v1.
PORTAL = {"authentication_classes": [PortalSession], "schema": None}
# What the portal can do beyond the specification's routes.
PORTAL_ALONE = {"put": "rename"}


def routes(root: str, beyond: dict[str, str], **options: Any) -> list[URLPattern]:
    """List the routes of organizations below `root`, with what one can do `beyond` them; `options` go to every viewset."""
    org = f"{root}/<str:org_id>"
    product = f"{org}/products/<str:product>"
    table: list[tuple[str, type[ApiViewSet], dict[str, Any]]] = [
        (root, OrganizationsView, {"get": "list", "post": "create"}),
        (org, OrganizationDetailView, {"get": "retrieve", **beyond}),
        (f"{org}/members", MembersView, {"get": "list"}),
        (f"{org}/members/<str:membership_id>", MembersView, {"put": "update", "delete": "destroy"}),
        (f"{org}/invitations", InvitationsView, {"get": "list", "post": "create"}),
        (f"{org}/invitations/<str:invitation_id>", InvitationsView, {"delete": "destroy"}),
        (f"{org}/products", ProductsView, {"get": "list"}),
        (product, ProductsView, {"put": "update", "delete": "destroy"}),
        (f"{product}/max-seats", MaxSeatsView, {"put": "update", "delete": "destroy"}),
        (f"{product}/seats/<str:membership_id>", SeatAssignmentView, {"put": "assign", "delete": "revoke"}),
        (f"{org}/seats", SeatsView, {"get": "list"}),
        (f"{org}/access", AccessView, {"get": "retrieve"}),
        (f"{org}/billing", OrganizationBillingViewSet, {"get": "retrieve"}),
        (f"{org}/billing/members", OrganizationBillingViewSet, {"get": "members"}),
        (f"{org}/billing/checkout", PaymentsView, {"post": "checkout"}),
        (f"{org}/billing/external-mapping", PaymentsView, {"post": "map"}),
        (f"{org}/budgets", BudgetsView, {"put": "update"}),
        (f"{org}/budgets/<str:budget_id>", BudgetsView, {"delete": "destroy"}),
        (f"{org}/usage", OrganizationUsageView, {"get": "retrieve"}),
    ]
    return [path(route, view.as_view(actions, **options)) for route, view, actions in table]


urlpatterns = [
    path("v1/auth/context", ContextView.as_view({"post": "create"})),
    path("v1/org-invitations/accept", AcceptanceView.as_view({"post": "create"})),
    path("api/organizations/invitations/accept", AcceptanceView.as_view({"post": "create"}, **PORTAL)),
    *routes("v1/organizations", {}),
    *routes("api/organizations", PORTAL_ALONE, **PORTAL),
]
