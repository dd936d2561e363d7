"""URLs of the organization pages."""

from django.urls import path
from django.views.generic import RedirectView

from organizations.portal.views import (
    access,
    auto_top_up,
    budgets,
    external_billing,
    home,
    invitations,
    invoices,
    log,
    members,
    organizations,
    payments,
    products,
    seats,
    usage,
    wallet,
)

ORG = "organizations/<str:org_id>"
PRODUCT = f"{ORG}/products/<str:product>"

urlpatterns = [
    path("", home.home, name="portal_home"),
    path("organizations", organizations.index, name="organizations"),
    path("organizations/invitation", invitations.accept, name="organization_accept"),
    path("organizations/invitation/about", invitations.describe, name="organization_invitation_about"),
    path(ORG, organizations.overview, name="organization"),
    path(f"{ORG}/rename", organizations.rename, name="organization_rename"),
    path(f"{ORG}/members", members.index, name="organization_members"),
    path(f"{ORG}/members/<str:membership_id>/role", members.change_role, name="organization_member_role"),
    path(f"{ORG}/members/<str:membership_id>/remove", members.remove, name="organization_member_remove"),
    path(f"{ORG}/invitations", invitations.index, name="organization_invitations"),
    path(f"{ORG}/invitations/<str:invitation_id>/revoke", invitations.revoke, name="organization_invitation_revoke"),
    path(f"{ORG}/products", products.index, name="organization_products"),
    path(f"{PRODUCT}/enable", products.enable, name="organization_product_enable"),
    path(f"{PRODUCT}/disable", products.disable, name="organization_product_disable"),
    path(f"{PRODUCT}/limit", products.cap, name="organization_product_cap"),
    path(f"{PRODUCT}/external-billing", external_billing.index, name="organization_external_billing"),
    path(f"{ORG}/seats", seats.index, name="organization_seats"),
    path(f"{PRODUCT}/seats/<str:membership_id>/assign", seats.assign, name="organization_seat_assign"),
    path(f"{PRODUCT}/seats/<str:membership_id>/revoke", seats.revoke, name="organization_seat_revoke"),
    path(f"{ORG}/access", access.index, name="organization_access"),
    path(f"{ORG}/money", RedirectView.as_view(pattern_name="organization_wallet", permanent=True)),
    path(f"{ORG}/wallet", wallet.index, name="organization_wallet"),
    path(f"{ORG}/payments", payments.index, name="organization_payments"),
    path(f"{ORG}/payments/<str:transaction_id>", payments.state, name="organization_payment"),
    path(f"{ORG}/payments/<str:transaction_id>/receipt", payments.receipt, name="organization_receipt"),
    path(f"{ORG}/auto-top-up", auto_top_up.index, name="organization_auto_top_up"),
    path(f"{ORG}/auto-top-up/off", auto_top_up.turn_off, name="organization_auto_top_up_off"),
    path(f"{ORG}/auto-top-up/confirm", auto_top_up.confirm, name="organization_auto_top_up_confirm"),
    path(f"{ORG}/payment-method/remove", auto_top_up.remove_method, name="organization_remove_method"),
    path(f"{ORG}/payment-method", payments.keep_method, name="organization_keep_method"),
    path(f"{ORG}/invoices", invoices.index, name="organization_invoices"),
    path(f"{ORG}/invoices/<str:invoice_id>", invoices.show_one, name="organization_invoice"),
    path(f"{ORG}/invoices/<str:invoice_id>/pdf", invoices.pdf, name="organization_invoice_pdf"),
    path(f"{ORG}/invoices/<str:invoice_id>/pay", invoices.pay, name="organization_invoice_pay"),
    path(f"{ORG}/budgets", budgets.index, name="organization_budgets"),
    path(f"{ORG}/budgets/<str:budget_id>/disable", budgets.disable, name="organization_budget_disable"),
    path(f"{ORG}/budgets/<str:budget_id>/end-override", budgets.end_override, name="organization_budget_end_override"),
    path(f"{ORG}/usage", usage.index, name="organization_usage"),
    path(f"{ORG}/usage.csv", usage.export, name="organization_usage_csv"),
    path(f"{ORG}/log", log.index, name="organization_log"),
]
