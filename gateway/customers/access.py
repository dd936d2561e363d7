"""Who belongs to a customer, and how people sign in: memberships, members, devices, browsers and sign-in methods."""

from datetime import datetime

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.http import HttpRequest
from django.urls import reverse

from accounts.models import DeviceSession
from gateway.core.console import parties
from gateway.customers.customer import Customer, may
from gateway.customers.section import ROWS, Part, Section, dialog_link, label, link, list_of, when
from organizations.models import Organization


def memberships(request: HttpRequest, customer: Customer, now: datetime) -> Section:
    """Return the organizations that a person is or was a member of."""
    assert customer.account is not None
    found = customer.account.memberships.select_related("organization").order_by("-created_at", "-id")[:ROWS]
    rows = [
        (
            link("customers_organization", one.organization.name, one.organization_id),
            one.role,
            when(one.created_at),
            label("removed", "info") if one.removed_at else label("member", "success"),
        )
        for one in found
    ]
    links = [list_of("organizations_organization", customer)]
    return Section("Memberships", ("Organization", "Role", "Since", "State"), rows, "In no organization.", links)


def members(request: HttpRequest, customer: Customer, now: datetime) -> Section:
    """Return the members who joined last, removed ones included."""
    assert isinstance(customer.row, Organization)
    found = customer.row.memberships.select_related("account").order_by("-created_at", "-id")[:ROWS]
    rows = [
        (
            link("customers_account", parties.of_row(one.account), one.account_id),
            one.role,
            when(one.created_at),
            label("removed", "info") if one.removed_at else label("member", "success"),
        )
        for one in found
    ]
    page = reverse("admin:organizations_organization_change", args=[customer.key])
    headers = ("Member", "Role", "Since", "State")
    return Section("Members", headers, rows, "There are no members.", [("All, products and invitations", page)])


def devices(request: HttpRequest, customer: Customer, now: datetime) -> Section:
    """Return the devices that were signed in last, each with the dialog that ends its session."""
    found = DeviceSession.objects.filter(account=customer.account).order_by("-created_at")[:ROWS]
    assert customer.account is not None
    is_operators = customer.account.is_staff or customer.account.is_superuser
    may_end = may(request, DeviceSession, "revoke") and (request.user.is_superuser or not is_operators)
    rows = [
        (
            link("accounts_devicesession_change", one.name or one.pk, one.pk),
            one.client_id,
            when(one.created_at),
            when(one.last_used_at),
            _device_state(one, now),
            dialog_link("accounts_devicesession_end", "End", one.pk)
            if may_end and one.revoked_at is None and one.expires_at > now
            else "",
        )
        for one in found
    ]
    headers = ("Device", "App", "Signed in", "Last used", "State", "Action")
    links = [list_of("accounts_devicesession", customer)]
    return Section("Devices", headers, rows, "No app is signed in.", links)


def _device_state(session: DeviceSession, now: datetime) -> str:
    if session.revoked_at:
        return label("ended", "info")
    return label("signed in", "success") if session.expires_at > now else label("expired")


def browsers(request: HttpRequest, customer: Customer, now: datetime) -> Section:
    """Return the browsers that are signed in to the portal."""
    found = UserSession.objects.filter(user=customer.account).order_by("-last_seen_at")[:ROWS]
    rows = [(one.user_agent[:80], one.ip, when(one.created_at), when(one.last_seen_at)) for one in found]
    headers = ("Browser", "Address", "Signed in", "Last seen")
    links = [list_of("usersessions_usersession", customer)]
    return Section("Browsers", headers, rows, "No browser is signed in.", links)


def addresses(request: HttpRequest, customer: Customer, now: datetime) -> Section:
    """Return the email addresses."""
    rows = [
        (
            one.email,
            label("verified", "success") if one.verified else label("not verified", "warning"),
            "primary" if one.primary else "",
        )
        for one in EmailAddress.objects.filter(user=customer.account).order_by("pk")[:ROWS]
    ]
    links = [list_of("account_emailaddress", customer)]
    return Section("Email addresses", ("Address", "State", "Action"), rows, "There is no email address.", links)


def factors(request: HttpRequest, customer: Customer, now: datetime) -> Section:
    """Return the second factors and passkeys, without their secrets."""
    found = Authenticator.objects.filter(user=customer.account).defer("data").order_by("pk")[:ROWS]
    rows = [(one.get_type_display(), when(one.created_at), when(one.last_used_at) or "never") for one in found]
    links = [list_of("mfa_authenticator", customer)]
    headers = ("Second factor", "Added", "Last used")
    return Section("Second factors", headers, rows, "There is no second factor.", links)


def identities(request: HttpRequest, customer: Customer, now: datetime) -> Section:
    """Return the accounts at identity providers that the person signs in with."""
    found = SocialAccount.objects.filter(user=customer.account).defer("extra_data").order_by("pk")[:ROWS]
    rows = [(one.provider, one.uid, when(one.date_joined), when(one.last_login)) for one in found]
    headers = ("Provider", "ID there", "Since", "Last used")
    links = [list_of("socialaccount_socialaccount", customer)]
    return Section("Identities", headers, rows, "No identity provider is used.", links)


PARTS = (
    Part(Organization, memberships, ("account",)),
    Part(Organization, members, ("organization",)),
    Part(DeviceSession, devices, ("account",)),
    Part(UserSession, browsers, ("account",)),
    Part(EmailAddress, addresses, ("account",)),
    Part(Authenticator, factors, ("account",)),
    Part(SocialAccount, identities, ("account",)),
)
