"""Accounts, by whom they belong to."""

from django.http import HttpRequest

from accounts.models import Account
from accounts.rules.principal import Principal
from gateway.core.contract.errors import InvalidToken


def of_principal(principal: Principal) -> Account:
    """Return the account that a verified token speaks for, or raise InvalidToken where it is gone."""
    account = Account.objects.filter(did=principal.did).first()
    if account is None:
        raise InvalidToken(private="unknown_account")
    return account


def person(request: HttpRequest) -> Account:
    """Return who is signed in to the portal. The page must require a sign-in."""
    assert isinstance(request.user, Account)
    return request.user
