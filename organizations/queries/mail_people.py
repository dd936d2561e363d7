"""Finds the people of an organization who get mails about it."""

from django.db.models import QuerySet
from django.urls import reverse

from accounts.queries.mail_people import people_of
from gateway.core.events.mail_people import Concern, Person
from gateway.core.events.rules.mail_kinds import switches_in_organization
from organizations.models import Membership, Organization
from organizations.queries import memberships
from organizations.rules.roles import MONEY_MANAGERS

PAGES = {
    "alerts": "organization_alerts",
    "budgets": "organization_budgets",
    "invoice": "organization_invoice",
    "invoices": "organization_invoices",
    "organization": "organization",
    "payment": "organization_payment",
    "top_up": "organization_auto_top_up",
    "wallet": "organization_wallet",
}


def money_managers(org_id: str) -> list[Person]:
    """Return the owners and billing members whose accounts are live."""
    found = _live(org_id).filter(role__in=MONEY_MANAGERS).order_by("created_at", "pk")
    return people_of([membership.account for membership in found])


def member(org_id: str, membership_id: str) -> Person | None:
    """Return the person of a live membership."""
    people = people_of([membership.account for membership in _live(org_id).filter(pk=membership_id)])
    return people[0] if people else None


def name_of(org_id: str) -> str:
    """Return an organization's name, empty for one that does not exist."""
    return Organization.objects.filter(pk=org_id).values_list("name", flat=True).first() or ""


def page(org_id: str, name: str, *of: str) -> str:
    """Return the path of a page of the organization."""
    return reverse(PAGES[name], args=[org_id, *of])


def concerns(did: str) -> list[Concern]:
    """Return what a person can turn off about each of their organizations."""
    return [concern_of(membership) for membership in memberships.of_person(did)]


def concern_of(membership: Membership) -> Concern:
    """Return what a member, loaded with the organization, can turn off about it."""
    switches = switches_in_organization(manages_money=membership.role in MONEY_MANAGERS)
    return Concern("organization", membership.organization_id, membership.organization.name, switches)


def _live(org_id: str) -> QuerySet[Membership]:
    return Membership.objects.select_related("account").filter(
        organization_id=org_id, removed_at=None, account__is_active=True, account__suspended_at=None
    )
