"""Finds people and organizations."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from allauth.account.models import EmailAddress
from django.db.models import QuerySet
from django.db.models.functions import Collate, Lower
from django.urls import reverse

from accounts.models import Account, DeviceSession
from gateway.core.console import parties
from gateway.core.events.models import Mail
from gateway.finding.finder import HITS_MAX, Finder, Hit
from organizations.models import Invitation, Membership, Organization

EMAIL = re.compile(r"(?!did:)[^\s@]+@[^\s@]+")
NAME = re.compile(r"(?!did:)[^@_]{2,}")
ID = re.compile(r"[a-z]+_\w+")


def accounts_of_did(did: str) -> Iterator[Hit]:
    """Find an account by its DID."""
    yield from _accounts(Account.objects.filter(did=did))


def accounts_of_email(email: str) -> Iterator[Hit]:
    """Find the accounts that have an address, claim it, or were sent a mail at it."""
    known = accounts_at(email)
    yield from _accounts(known)
    mailed = Account.objects.filter(did__in=_recipients(email.lower())).exclude(pk__in=[one.pk for one in known])
    yield from _accounts(mailed[:HITS_MAX], about=f"was sent mails at {email}, which it does not have now")


def accounts_at(email: str) -> list[Account]:
    """Return the accounts that have an address or claim it, whatever its case."""
    lower = email.lower()
    named = Account.objects.annotate(lower=Lower("email")).filter(lower=lower)
    claimed = Account.objects.filter(pk__in=EmailAddress.objects.filter(email=lower).values("user"))
    known = {account.pk: account for account in (*named[:HITS_MAX], *claimed[:HITS_MAX])}
    return list(known.values())


def accounts_of_name(name: str) -> Iterator[Hit]:
    """Find accounts by the beginning of their name."""
    yield from _accounts(_beginning_with(Account.objects.all(), "display_name", name))


def organizations_of_name(name: str) -> Iterator[Hit]:
    """Find organizations by the beginning of their name."""
    yield from _organizations(_beginning_with(Organization.objects.all(), "name", name))


def organizations_of_id(org_id: str) -> Iterator[Hit]:
    """Find an organization by its id, or by that of a membership."""
    yield from _organizations(Organization.objects.filter(pk=org_id))
    memberships = Membership.objects.filter(pk=org_id).values("organization")
    yield from _organizations(Organization.objects.filter(pk__in=memberships), about=f"with the membership {org_id}")


def invitations_of_email(email: str) -> Iterator[Hit]:
    """Find the organizations that an address was invited to."""
    found = Invitation.objects.annotate(lower=Lower("email")).filter(lower=email.lower(), email__isnull=False)
    for one in found.select_related("organization").order_by("-created_at")[:HITS_MAX]:
        yield Hit(
            "Invitation",
            f"to {one.organization.name} as {one.role}",
            reverse("admin:customers_organization", args=[one.organization_id]),
            ("organization", one.organization_id),
            one.created_at,
            "accepted" if one.accepted_by_id else "revoked" if one.revoked_at else "not accepted",
        )


def mails_of_email(email: str) -> Iterator[Hit]:
    """Find the mails to an address that no account was sent."""
    for one in Mail.objects.annotate(lower=Lower("to")).filter(lower=email.lower()).order_by("-id")[:HITS_MAX]:
        if not one.recipient.startswith("did:"):
            page = reverse("admin:events_mail_change", args=[one.pk])
            yield Hit("Mail", one.subject, page, (one.owner_kind, one.owner_key), one.created_at, one.status)


def sessions_of_id(session_id: str) -> Iterator[Hit]:
    """Find a device by its id."""
    for one in DeviceSession.objects.filter(pk=session_id).select_related("account"):
        page = reverse("admin:accounts_devicesession_change", args=[one.pk])
        yield Hit("Device", one.name or one.pk, page, ("account", one.account.did), one.created_at)


FINDERS = (
    Finder((Account,), re.compile(r"did:\S+"), accounts_of_did),
    Finder((Account,), EMAIL, accounts_of_email),
    Finder((Organization, Invitation), EMAIL, invitations_of_email),
    Finder((Mail,), EMAIL, mails_of_email),
    Finder((Account,), NAME, accounts_of_name),
    Finder((Organization,), NAME, organizations_of_name),
    Finder((Organization,), ID, organizations_of_id),
    Finder((DeviceSession,), re.compile(r"dev_\w+"), sessions_of_id),
)


def _accounts(rows: Iterable[Account], *, about: str = "") -> Iterator[Hit]:
    for one in rows:
        page = reverse("admin:customers_account", args=[one.pk])
        title = str(parties.of_row(one))
        yield Hit("Account", title, page, ("account", one.did), one.created_at, about)


def _organizations(rows: Iterable[Organization], *, about: str = "") -> Iterator[Hit]:
    for one in rows:
        page = reverse("admin:customers_organization", args=[one.pk])
        yield Hit("Organization", one.name, page, ("organization", one.pk), one.created_at, about)


def _beginning_with(rows: QuerySet[Any], column: str, text: str) -> QuerySet[Any]:
    """Select rows by the beginning of a name, from the index of the name in lower case."""
    lower = Collate(Lower(column), "C")
    return rows.annotate(begins=lower).filter(begins__startswith=text.lower()).order_by("begins")[:HITS_MAX]


def _recipients(lower: str) -> list[str]:
    """Return the DIDs of those that were sent the newest mails at an address."""
    found = Mail.objects.annotate(lower=Lower("to")).filter(lower=lower).order_by("-id")
    return sorted(set(found.values_list("recipient", flat=True)[:HITS_MAX]))
