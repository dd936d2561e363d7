"""Pages for organizations: list, create, overview, rename."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.operations import limits
from accounts.queries.accounts import person
from gateway.core.contract.route_limits import ORGANIZATIONS
from gateway.core.http.rate_limits import note
from organizations.models import Membership
from organizations.operations import organizations
from organizations.portal import texts
from organizations.portal.forms import NameForm
from organizations.portal.pages import back_to, member_page, report_outcome, show
from organizations.queries import entitlements, memberships
from organizations.rules.roles import OWNERS


@login_required
@never_cache
@require_http_methods(["GET", "POST"])
def index(request: HttpRequest) -> HttpResponse:
    """List the person's organizations. A form creates one."""
    form = NameForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        name, founder, now = form.cleaned_data["name"], person(request), timezone.now()
        note(request, limits.take(ORGANIZATIONS, founder.did, now=now))
        founded = organizations.create(name=name, account=founder, now=now)
        messages.success(request, f"{name} was created. You are its owner.")
        return redirect("organization", org_id=founded.organization_id)
    found = memberships.of_person(person(request).did)
    status = 400 if form.is_bound else 200
    return render(request, "organizations/index.html", {"memberships": found, "form": form}, status=status)


@require_GET
@member_page()
def overview(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Show the organization, the person's role, and the products."""
    return _overview(request, membership, NameForm(initial={"name": membership.organization.name}))


@require_POST
@member_page(*OWNERS)
def rename(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Rename the organization."""
    form = NameForm(request.POST)
    if not form.is_valid():
        return _overview(request, membership, form, 400)
    name = form.cleaned_data["name"]
    with report_outcome(request, f"The organization is now called {name}.") as outcome:
        organizations.rename(org_id=membership.organization_id, name=name, actor_did=person(request).did)
    if outcome.error:
        return _overview(request, membership, form, outcome.error.status)
    return back_to("organization", membership)


def _overview(request: HttpRequest, membership: Membership, form: NameForm, status: int = 200) -> HttpResponse:
    products = entitlements.with_counts().filter(organization=membership.organization, is_enabled=True)
    return show(
        request,
        membership,
        "organization",
        products=products.select_related("product"),
        role_text=texts.of_role(membership.role),
        rename=form if membership.role in OWNERS else None,
        status=status,
    )
