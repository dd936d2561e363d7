"""The audit log page."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from accounts.models import Account, Product
from organizations.models import AuditEntry, Membership
from organizations.portal import texts
from organizations.portal.pages import identity_of, member_page, paged, show
from organizations.queries import audit, memberships
from organizations.rules.roles import PEOPLE_MANAGERS

TAB = "organization_log"


@require_GET
@member_page(*PEOPLE_MANAGERS)
def index(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Show the audit log, newest first."""
    page = paged(request, audit.of_organization(membership.organization_id))
    entries = list(page)
    actors, names = _actors(entries), _people(membership.organization_id, entries) | _products()
    rows = [(entry, _actor(entry, actors), texts.of_entry(entry, names)) for entry in entries]
    return show(request, membership, TAB, page=page, rows=rows)


def _actor(entry: AuditEntry, actors: dict[str, str]) -> str:
    """Return who did something. Members need not know which operator it was."""
    if entry.action in texts.BY_OPERATORS:
        return "The operator"
    return actors.get(entry.actor_did, entry.actor_did)


def _actors(entries: list[AuditEntry]) -> dict[str, str]:
    found = Account.objects.filter(did__in={entry.actor_did for entry in entries})
    return {account.did: identity_of(account) for account in found}


def _people(org_id: str, entries: list[AuditEntry]) -> dict[str, str]:
    subjects = {entry.subject for entry in entries}
    return {one.pk: identity_of(one.account) for one in memberships.named(org_id, subjects)}


def _products() -> dict[str, str]:
    return dict(Product.objects.values_list("slug", "name"))
