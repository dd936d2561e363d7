"""Queries for what a person signs in with: an email address or a DID."""

from allauth.account.models import EmailAddress
from django.db.models.functions import Lower

from accounts.models import Account


def counted_as(login: str) -> str:
    """Return what the passwords that fail for a login are counted as: the accounts that it names, whichever of their
    email addresses it is, or their DID; or the text itself if it names none.
    """
    email = login.lower()
    named = (
        Account.objects.filter(did=login).values_list("pk"),
        Account.objects.alias(lower=Lower("email")).filter(lower=email).values_list("pk"),
        EmailAddress.objects.filter(email=email).values_list("user_id"),
    )
    accounts = sorted({pk for rows in named for (pk,) in rows})
    return " ".join(map(str, accounts)) or f"text:{email}"
