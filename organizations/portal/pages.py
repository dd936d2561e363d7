"""Common parts of the pages below /organizations/<org_id>: access by role, tabs, redirects and error messages."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache

from accounts.models import Account
from accounts.queries.accounts import person
from billing.rules.owners import Owner
from gateway.core.contract.errors import ApiError, Forbidden, NotMember
from organizations.models import Membership
from organizations.portal import texts
from organizations.queries import entitlements, memberships
from organizations.rules.roles import ANY, MONEY_MANAGERS, PEOPLE_MANAGERS, Role

ROWS = 50

View = Callable[..., HttpResponseBase]

# URL name, title, and the roles that have access.
TABS = (
    ("organization", "Overview", ANY),
    ("organization_members", "Members", PEOPLE_MANAGERS),
    ("organization_invitations", "Invitations", PEOPLE_MANAGERS),
    ("organization_products", "Products", ANY),
    ("organization_seats", "Seats", ANY),
    ("organization_wallet", "Money", MONEY_MANAGERS),
    ("organization_access", "My access", ANY),
    ("organization_log", "Log", PEOPLE_MANAGERS),
)
# The pages of the tab Money.
MONEY_TABS = (
    ("organization_wallet", "Wallet"),
    ("organization_payments", "Payments"),
    ("organization_auto_top_up", "Automatic top-up"),
    ("organization_invoices", "Invoices"),
    ("organization_budgets", "Budgets"),
    ("organization_usage", "Usage"),
    ("organization_alerts", "Alerts"),
)
MONEY = tuple(name for name, _ in MONEY_TABS)


@dataclass
class Outcome:
    """The outcome of a change. `error` is set if it was refused."""

    error: ApiError | None = None


def member_page(*roles: Role) -> Callable[[View], View]:
    """Restrict a view to members with these roles (default: any) and call it as `view(request, membership, …)`.

    Other people get 404, whether or not the organization exists. Members with another role get a page that says so.
    """

    def decorate(view: View) -> View:
        @login_required
        @never_cache
        @wraps(view)
        def page(request: HttpRequest, org_id: str, **kwargs: Any) -> HttpResponseBase:
            try:
                membership = memberships.with_role(org_id, person(request).did, roles or ANY)
            except NotMember:
                raise Http404 from None
            except Forbidden:
                return render(request, "organizations/forbidden.html", {"org_id": org_id}, status=403)
            return view(request, membership, **kwargs)

        return page

    return decorate


def show(request: HttpRequest, membership: Membership, tab: str, **context: Any) -> HttpResponse:
    """Render the page of a tab. `template` and `status` in the context override its template and the status."""
    role = Role(membership.role)
    is_money = tab in MONEY
    frame = {
        "membership": membership,
        "organization": membership.organization,
        "tabs": [(name, title) for name, title, roles in TABS if role in roles],
        "tab": MONEY[0] if is_money else tab,
        "inner_tabs": MONEY_TABS if is_money else (),
        "inner_tab": tab,
        "manages_people": role in PEOPLE_MANAGERS,
        "manages_money": role in MONEY_MANAGERS,
    }
    template, status = context.pop("template", tab), context.pop("status", 200)
    return render(request, f"organizations/{template}.html", {**frame, **context}, status=status)


def back_to(name: str, membership: Membership, query: str = "", **parts: str) -> HttpResponse:
    """Redirect to a page of the same organization (with 303, by middleware). `parts` are further arguments of its
    URL.
    """
    response = redirect(reverse(name, kwargs={"org_id": membership.organization_id, **parts}))
    response["Location"] += f"?{query}" if query else ""
    return response


@contextmanager
def report_outcome(request: HttpRequest, done: str) -> Iterator[Outcome]:
    """Add the message `done`, or the text of the error that was raised; the outcome tells which."""
    outcome = Outcome()
    try:
        yield outcome
    except ApiError as error:
        outcome.error = error
        messages.error(request, texts.of_error(error))
    else:
        messages.success(request, done)


def name_of(account: Account) -> str:
    """Return a person's name for other members, or else the email address, or else the DID."""
    return account.display_name or account.email or account.did


def identity_of(account: Account) -> str:
    """Return a person's name with the address, where it matters who it is: people choose their names and change them."""
    if account.display_name:
        return f"{account.display_name} ({account.email or account.did})"
    return name_of(account)


def owner_of(membership: Membership) -> Owner:
    """Return the organization as the owner of its wallet."""
    return "organization", membership.organization_id


def product_choices(org_id: str) -> list[tuple[str, str]]:
    """Return the organization's current and past products as form choices."""
    found = entitlements.with_counts().filter(organization=org_id).select_related("product")
    return [(one.product_id, one.product.name) for one in found]


def paged(request: HttpRequest, rows: "QuerySet[Any]") -> Page[Any]:
    """Return the page of rows that the query string selects."""
    return Paginator(rows, ROWS).get_page(request.GET.get("page"))
