"""Queries for what a person signs in with: an email address or a DID."""

from allauth.account.models import EmailAddress
from django.db.models.functions import Lower

from accounts.models import Account


def counted_as(login: str) -> list[str]:
    """Return what a password that fails for a login counts for, each on its own: every account whose password is
    compared, whichever of its email addresses the login is, or its DID; or the text itself if there is none.

    An address belongs to who has verified it. As long as nobody has, anybody may claim it, so the accounts together are
    nothing that can be counted.
    """
    email = login.lower()
    addresses = EmailAddress.objects.filter(email=email)
    named = [
        Account.objects.filter(did=login).values_list("pk"),
        addresses.filter(verified=True).values_list("user_id"),
    ]
    if not named[1]:
        named.append(Account.objects.alias(lower=Lower("email")).filter(lower=email).values_list("pk"))
        named.append(addresses.values_list("user_id"))
    accounts = sorted({pk for rows in named for (pk,) in rows})
    return [str(pk) for pk in accounts] or [f"text:{email}"]
