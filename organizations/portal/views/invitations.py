"""Pages for invitations: create one and show its link once, list, revoke, accept."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.operations import limits
from accounts.queries.accounts import person
from gateway.core.contract.errors import InvitationUnavailable, RateLimited
from gateway.core.contract.route_limits import INVITATIONS
from gateway.core.http.addresses import client_network
from gateway.core.http.rate_limits import note
from organizations.models import Membership
from organizations.operations import invitation_guesses
from organizations.operations import invitations as operations
from organizations.portal import texts
from organizations.portal.forms import InvitationForm
from organizations.portal.pages import back_to, identity_of, member_page, name_of, report_outcome, show
from organizations.queries import invitations
from organizations.rules.roles import PEOPLE_MANAGERS, Role

TAB = "organization_invitations"
COOKIE = "invitation_link"
COOKIE_SECONDS = 60


@require_http_methods(["GET", "POST"])
@member_page(*PEOPLE_MANAGERS)
def index(request: HttpRequest, membership: Membership) -> HttpResponse:
    """List open invitations. A form creates one."""
    actor = Role(membership.role)
    form = InvitationForm(request.POST or None, actor=actor)
    if request.method == "POST" and form.is_valid():
        return _invite(request, membership, form)
    org_id = membership.organization_id
    opened = invitations.every_open(org_id, timezone.now()).select_related("invited_by__account")
    rows = [(invitation, name_of(invitation.invited_by.account)) for invitation in opened]
    token = request.get_signed_cookie(COOKIE, None, salt=org_id, max_age=COOKIE_SECONDS)
    link = f"{settings.PORTAL_URL}/organizations/invitation#token={token}" if token else None
    response = show(request, membership, TAB, form=form, rows=rows, link=link)
    response.status_code = 400 if form.is_bound else 200
    if token:
        response.delete_cookie(COOKIE, path=request.path, samesite="Strict")
    return response


@require_POST
@member_page(*PEOPLE_MANAGERS)
def revoke(request: HttpRequest, membership: Membership, invitation_id: str) -> HttpResponse:
    """Revoke an open invitation."""
    with report_outcome(request, "The invitation was revoked. Its link no longer works."):
        operations.revoke(org_id=membership.organization_id, invitation_id=invitation_id, actor_did=person(request).did)
    return back_to(TAB, membership)


@require_GET
@never_cache
@ensure_csrf_cookie
def accept(request: HttpRequest) -> HttpResponse:
    """Ask whether to accept. The token is in the URL's fragment, which browsers do not send."""
    return render(request, "organizations/invitation.html")


@require_POST
@never_cache
def describe(request: HttpRequest) -> HttpResponse:
    """Describe the invitation to the holder of its token: `{organization, inviter, role, meaning}`, else 404 or 429.

    The token is sent in the body, so that URLs and logs do not contain it.
    """
    did = person(request).did if request.user.is_authenticated else None
    now = timezone.now()
    try:
        with invitation_guesses.counted(did=did, network=client_network(request), now=now):
            invitation = operations.preview(token=request.POST.get("token", ""), now=now)
    except (InvitationUnavailable, RateLimited) as error:
        return JsonResponse({}, status=error.status, headers=error.headers)
    return JsonResponse(
        {
            "organization": invitation.organization.name,
            "inviter": identity_of(invitation.invited_by.account),
            "role": invitation.role,
            "meaning": texts.of_role(invitation.role),
        }
    )


def _invite(request: HttpRequest, membership: Membership, form: InvitationForm) -> HttpResponse:
    """Create an invitation. Its token is passed to the next page in a cookie for that page, and is not stored."""
    response = back_to(TAB, membership)
    note(request, limits.take(INVITATIONS, person(request).did, now=timezone.now()))
    with report_outcome(request, _confirmation(form)):
        _, token = operations.invite(
            org_id=membership.organization_id,
            role=Role(form.cleaned_data["role"]),
            email=form.cleaned_data["email"] or None,
            actor_did=person(request).did,
        )
        response.set_signed_cookie(
            COOKIE,
            token,
            salt=membership.organization_id,
            max_age=COOKIE_SECONDS,
            path=request.path,
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Strict",
        )
    return response


def _confirmation(form: InvitationForm) -> str:
    if settings.MAIL_IS_CONFIGURED and form.cleaned_data["email"]:
        return "The invitation is ready, and its link is on its way by email. You can copy it now, too; it is not shown again."
    return "The invitation is ready. Copy its link now; it is not shown again."
