"""Pages for members: search, change roles, remove."""

from urllib.parse import urlencode

from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.queries.accounts import person
from gateway.core.contract.errors import NotFound
from organizations.models import Membership
from organizations.operations import members as operations
from organizations.portal import texts
from organizations.portal.forms import role_choices
from organizations.portal.pages import back_to, member_page, name_of, paged, report_outcome, show
from organizations.queries import memberships, seats
from organizations.rules.roles import PEOPLE_MANAGERS, Role, may_manage

TAB = "organization_members"


@require_GET
@member_page(*PEOPLE_MANAGERS)
def index(request: HttpRequest, membership: Membership) -> HttpResponse:
    """List members, including removed ones, newest first."""
    found, sought = memberships.every(membership.organization_id), request.GET.get("q", "").strip()
    if sought:
        found = found.filter(_named(sought))
    actor = Role(membership.role)
    rows = paged(request, found)
    for row in rows:
        row.person = name_of(row.account)
        row.is_manageable = row.is_active and may_manage(actor, Role(row.role))
    return show(request, membership, TAB, rows=rows, roles=role_choices(actor), sought=sought)


@require_POST
@member_page(*PEOPLE_MANAGERS)
def change_role(request: HttpRequest, membership: Membership, membership_id: str) -> HttpResponse:
    """Change a member's role."""
    if (role := request.POST.get("role")) not in list(Role):
        raise Http404
    with report_outcome(request, texts.of_new_role(role)) as outcome:
        operations.change_role(
            org_id=membership.organization_id,
            membership_id=membership_id,
            role=Role(role),
            actor_did=person(request).did,
        )
    if membership_id == membership.pk and not outcome.error:
        return back_to("organization", membership)  # the new role may not have access to the list
    return back_to(TAB, membership, _list_query(request))


@require_http_methods(["GET", "POST"])
@member_page(*PEOPLE_MANAGERS)
def remove(request: HttpRequest, membership: Membership, membership_id: str) -> HttpResponse:
    """Ask for confirmation, listing the consequences, and remove a member."""
    try:
        target = memberships.active_in(membership.organization_id, membership_id)
    except NotFound:
        raise Http404 from None
    if request.method == "GET":
        return _confirm(request, membership, target)
    with report_outcome(request, f"{name_of(target.account)} was removed.") as outcome:
        operations.remove(org_id=membership.organization_id, membership_id=membership_id, actor_did=person(request).did)
    if outcome.error:
        return _confirm(request, membership, target, status=outcome.error.status)
    return redirect("organizations") if target.pk == membership.pk else back_to(TAB, membership)


def _confirm(request: HttpRequest, membership: Membership, target: Membership, status: int = 200) -> HttpResponse:
    ending = seats.visible_to(target, None).filter(membership=target).select_related("entitlement__product")
    context = {"target": target, "name": name_of(target.account), "ending": ending}
    return show(request, membership, TAB, template="organization_member_remove", status=status, **context)


def _list_query(request: HttpRequest) -> str:
    """Return the query string of the list that a form was sent from: search text and page."""
    return urlencode({name: request.POST[name] for name in ("q", "page") if request.POST.get(name)})


def _named(sought: str) -> Q:
    return (
        Q(account__display_name__icontains=sought)
        | Q(account__email__icontains=sought)
        | Q(account__did__icontains=sought)
    )
