"""The addresses of the organization pages."""

from django.urls import path

from organizations.portal.views import (
    access,
    external_billing,
    invitations,
    log,
    members,
    money,
    organizations,
    payments,
    products,
    seats,
)

ORG = "organizations/<str:org_id>"
PRODUCT = f"{ORG}/products/<str:product>"

urlpatterns = [
    path("organizations", organizations.index, name="organizations"),
    path("organizations/invitation", invitations.accept, name="organization_accept"),
    path(ORG, organizations.overview, name="organization"),
    path(f"{ORG}/members", members.index, name="organization_members"),
    path(f"{ORG}/members/<str:membership_id>/role", members.change_role, name="organization_member_role"),
    path(f"{ORG}/members/<str:membership_id>/remove", members.remove, name="organization_member_remove"),
    path(f"{ORG}/invitations", invitations.index, name="organization_invitations"),
    path(f"{ORG}/invitations/<str:invitation_id>/revoke", invitations.revoke, name="organization_invitation_revoke"),
    path(f"{ORG}/products", products.index, name="organization_products"),
    path(f"{PRODUCT}/enable", products.enable, name="organization_product_enable"),
    path(f"{PRODUCT}/disable", products.disable, name="organization_product_disable"),
    path(f"{PRODUCT}/limit", products.limit, name="organization_product_limit"),
    path(f"{PRODUCT}/external-billing", external_billing.index, name="organization_external_billing"),
    path(f"{ORG}/seats", seats.index, name="organization_seats"),
    path(f"{PRODUCT}/seats/<str:membership_id>/assign", seats.assign, name="organization_seat_assign"),
    path(f"{PRODUCT}/seats/<str:membership_id>/revoke", seats.revoke, name="organization_seat_revoke"),
    path(f"{ORG}/access", access.index, name="organization_access"),
    path(f"{ORG}/money", money.index, name="organization_money"),
    path(f"{ORG}/budgets/<str:budget_id>/disable", money.disable_budget, name="organization_budget_disable"),
    path(f"{ORG}/payments", payments.add, name="organization_add_money"),
    path(f"{ORG}/payment-method", payments.keep_method, name="organization_keep_method"),
    path(f"{ORG}/payments/<str:transaction_id>", payments.state, name="organization_payment"),
    path(f"{ORG}/log", log.index, name="organization_log"),
]
