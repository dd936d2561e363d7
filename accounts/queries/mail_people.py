"""Finds the people who get mails, with their names and verified addresses."""

from collections.abc import Collection

from django.urls import reverse

from accounts.models import Account
from accounts.operations.addresses import mailboxes_of
from gateway.core.events.mail_people import Concern, Person
from gateway.core.events.rules.mail_kinds import switches_of_account

PAGES = {
    "alerts": "portal_alerts",
    "budgets": "portal_apps",
    "payment": "portal_payment",
    "top_up": "portal_auto_top_up",
    "wallet": "portal_wallet",
}


def people_of(accounts: Collection[Account]) -> list[Person]:
    """Return the people of these accounts."""
    mailboxes = mailboxes_of(accounts)
    return [Person(one.did, one.display_name, mailboxes.get(one.pk, "")) for one in accounts]


def of_account(did: str) -> list[Person]:
    """Return an account's own person, whether or not it is suspended; nobody once it is closed."""
    return people_of(Account.objects.filter(did=did, closing=None))


def own_name(did: str) -> str:
    """Return no name: a person's own account is theirs."""
    return ""


def page(did: str, name: str, *of: str) -> str:
    """Return the path of a page about a person's own account."""
    return reverse(PAGES[name], args=of)


def concerns(did: str) -> list[Concern]:
    """Return what a person can turn off about their own account."""
    return [Concern("account", did, "", switches_of_account())]
