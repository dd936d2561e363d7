"""URLs of the organization routes. SPEC: Organizations, seats, shared billing.

The same viewsets are mounted twice: under /v1 for tokens, under /api/organizations for the portal's session.
"""

from typing import Any

from django.urls import URLPattern, path

from accounts.portal_authentication import PortalSession
from gateway.core.api.viewsets import ApiViewSet
from organizations.views.alerts import OrganizationAlertsViewSet
from organizations.views.auto_top_up import OrganizationAutoTopUpViewSet
from organizations.views.billing import (
    BudgetsViewSet,
    OrganizationBillingViewSet,
    OrganizationUsageViewSet,
    PaymentsViewSet,
)
from organizations.views.context import ContextViewSet
from organizations.views.invitations import AcceptanceViewSet, InvitationsViewSet
from organizations.views.members import MembersViewSet
from organizations.views.organizations import OrganizationDetailViewSet, OrganizationsViewSet
from organizations.views.products import MaxSeatsViewSet, ProductsViewSet
from organizations.views.seats import AccessViewSet, SeatAssignmentViewSet, SeatsViewSet

# The API reference describes the routes only once, under /v1.
PORTAL = {"authentication_classes": [PortalSession], "schema": None}
# Routes of the portal that are not in the specification.
PORTAL_ONLY = {"put": "rename"}


def routes(root: str, beyond: dict[str, str], **options: Any) -> list[URLPattern]:
    """Return the organization routes below `root`, with the additional routes `beyond`. `options` are passed to all
    viewsets.
    """
    org = f"{root}/<str:org_id>"
    product = f"{org}/products/<str:product>"
    table: list[tuple[str, type[ApiViewSet], dict[str, Any]]] = [
        (root, OrganizationsViewSet, {"get": "list", "post": "create"}),
        (org, OrganizationDetailViewSet, {"get": "retrieve", **beyond}),
        (f"{org}/members", MembersViewSet, {"get": "list"}),
        (f"{org}/members/<str:membership_id>", MembersViewSet, {"put": "update", "delete": "destroy"}),
        (f"{org}/invitations", InvitationsViewSet, {"get": "list", "post": "create"}),
        (f"{org}/invitations/<str:invitation_id>", InvitationsViewSet, {"delete": "destroy"}),
        (f"{org}/products", ProductsViewSet, {"get": "list"}),
        (product, ProductsViewSet, {"put": "update", "delete": "destroy"}),
        (f"{product}/max-seats", MaxSeatsViewSet, {"put": "update", "delete": "destroy"}),
        (f"{product}/seats/<str:membership_id>", SeatAssignmentViewSet, {"put": "assign", "delete": "revoke"}),
        (f"{org}/seats", SeatsViewSet, {"get": "list"}),
        (f"{org}/access", AccessViewSet, {"get": "retrieve"}),
        (f"{org}/billing", OrganizationBillingViewSet, {"get": "retrieve"}),
        (f"{org}/billing/members", OrganizationBillingViewSet, {"get": "members"}),
        (f"{org}/billing/checkout", PaymentsViewSet, {"post": "checkout"}),
        (f"{org}/billing/external-mapping", PaymentsViewSet, {"post": "map"}),
        (f"{org}/budgets", BudgetsViewSet, {"put": "update"}),
        (f"{org}/budgets/<str:budget_id>", BudgetsViewSet, {"delete": "destroy"}),
        (f"{org}/usage", OrganizationUsageViewSet, {"get": "retrieve"}),
    ]
    return [path(route, view.as_view(actions, **options)) for route, view, actions in table]


urlpatterns = [
    path("v1/auth/context", ContextViewSet.as_view({"post": "create"})),
    path("v1/org-invitations/accept", AcceptanceViewSet.as_view({"post": "create"})),
    path("api/organizations/invitations/accept", AcceptanceViewSet.as_view({"post": "create"}, **PORTAL)),
    path(
        "api/organizations/<str:org_id>/alerts",
        OrganizationAlertsViewSet.as_view({"get": "retrieve", "put": "update"}, **PORTAL),
    ),
    path(
        "api/organizations/<str:org_id>/billing/auto-top-up",
        OrganizationAutoTopUpViewSet.as_view({"get": "retrieve", "put": "update"}, **PORTAL),
    ),
    *routes("v1/organizations", {}),
    *routes("api/organizations", PORTAL_ONLY, **PORTAL),
]
