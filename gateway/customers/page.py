"""Shows the page of a customer."""

from collections.abc import Iterator
from typing import NamedTuple

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone

from accounts.models import Account
from billing.models import Wallet
from gateway.customers import access, history, money, payments
from gateway.customers.customer import MODELS, Customer, found, may_view
from gateway.customers.dialogs import DIALOGS
from gateway.customers.section import Section
from organizations.models import Organization

PARTS = (*money.PARTS, *payments.PARTS, *access.PARTS, *history.PARTS)

SUSPENSION = (("suspend", "Suspend", "block"), ("unsuspend", "Lift suspension", "lock_open"))
ACTIONS: dict[type[Model], tuple[tuple[str, str, str], ...]] = {
    Account: (("end_sessions", "End all sessions", "logout"), *SUSPENSION),
    Organization: SUSPENSION,
}
"""The actions of a customer's own page that support uses: name, title and icon."""


class Button(NamedTuple):
    """A button that opens a dialog."""

    title: str
    icon: str
    address: str


def view(request: HttpRequest, kind: str, object_id: str) -> HttpResponse:
    """Show a customer: what it has, does and is told, as far as the operator may view the tables that it is in."""
    customer = found(request, kind, object_id)
    row = MODELS[kind]._meta  # noqa: SLF001 (documented)
    sections = list(_sections(request, customer))
    context = {
        **admin.site.each_context(request),
        "title": f"{str(row.verbose_name).capitalize()}: {customer.name}",
        "customer": customer,
        "state": customer.state,
        "buttons": list(_buttons(request, customer)),
        "cards": money.cards(customer, timezone.now()) if may_view(request, Wallet) else [],
        "sections": sections,
        "filled": [section for section in sections if section.rows],
        "empty": [section for section in sections if not section.rows],
        "own_page": reverse(f"admin:{row.app_label}_{row.model_name}_change", args=[customer.row.pk]),
    }
    return TemplateResponse(request, "admin/customers/page.html", context)


def _sections(request: HttpRequest, customer: Customer) -> Iterator[Section]:
    now = timezone.now()
    allowed: dict[type[Model], bool] = {}
    for part in PARTS:
        if customer.kind in part.kinds and allowed.setdefault(part.model, may_view(request, part.model)):
            yield part.make(request, customer, now)


def _buttons(request: HttpRequest, customer: Customer) -> Iterator[Button]:
    for each in DIALOGS:
        if each.is_offered(request, customer):
            address = reverse(f"admin:customers_{customer.kind}_{each.name}", args=[customer.row.pk])
            yield Button(each.title, each.icon, address)
    model = MODELS[customer.kind]
    table, meta = admin.site.get_model_admin(model), model._meta  # noqa: SLF001 (documented)
    for name, title, icon in ACTIONS[model]:
        if getattr(table, f"has_{name}_permission")(request, str(customer.row.pk)):
            page = f"admin:{meta.app_label}_{meta.model_name}_{name}"
            yield Button(title, icon, reverse(page, args=[customer.row.pk]))
