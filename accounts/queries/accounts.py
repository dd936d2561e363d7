"""Queries for the account of a token or a portal session."""

from django.http import HttpRequest

from accounts.models import Account, Closing
from accounts.rules.principal import Principal
from gateway.core.contract.errors import InvalidToken


def of_principal(principal: Principal) -> Account:
    """Return the account of a verified token's subject, or raise InvalidToken if it no longer exists."""
    account = Account.objects.filter(did=principal.did).first()
    if account is None:
        raise InvalidToken(private="unknown_account")
    return account


def is_closed(did: str) -> bool:
    """Return whether the account with this DID was closed."""
    return Closing.objects.filter(account__did=did).exists()


def person(request: HttpRequest) -> Account:
    """Return the account that is signed in to the portal. The view must require a sign-in."""
    assert isinstance(request.user, Account)
    return request.user
