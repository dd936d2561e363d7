"""Fixtures of the portal's tests. Each test starts without counted attempts."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from pytest_django import Settings

from tests.factories.billing import Purse
from tests.factories.organizations import account
from tests.portal.identity_provider import CLIENT_ID, CLIENT_SECRET, IdentityProvider, serving
from tests.portal.organization_browser import OrganizationPages, signed_in
from tests.portal.usage_pages import Months, current_months
from tests.support.many_requests import remembered_sign_ins, unrecorded_pages, untracked  # noqa: F401
from tests.support.stripe.fixtures import provider, running_provider  # noqa: F401


def providers_of(running: IdentityProvider) -> dict[str, Any]:
    """Return the setting that configures sign-in through an identity provider."""
    app = {
        "provider_id": "sso",
        "name": "Example SSO",
        "client_id": CLIENT_ID,
        "secret": CLIENT_SECRET,
        "settings": {"server_url": running.issuer},
    }
    return {"openid_connect": {"APPS": [app]}}


@pytest.fixture(autouse=True)
def no_attempts_yet() -> None:
    cache.clear()


@pytest.fixture(scope="module")
def founded(django_db_setup: None, django_db_blocker: Any) -> OrganizationPages:
    with django_db_blocker.unblock():
        return OrganizationPages()


@pytest.fixture
def organization_pages(founded: OrganizationPages) -> OrganizationPages:
    """Return an organization that was founded once for all tests of a module."""
    return founded.again()


@pytest.fixture
def purse(organization_pages: OrganizationPages) -> Purse:
    """Return the organization's wallet, with money in it."""
    return Purse("organization", organization_pages.team.id).pay(100_000_000)


@pytest.fixture
def alice() -> Client:
    """Return a browser in which Alice is signed in."""
    return signed_in(account("alice"))


@pytest.fixture
def own() -> Purse:
    """Return Alice's own wallet, with money in it."""
    return Purse("account", account("alice").did).pay(100_000_000)


@pytest.fixture
def months() -> Months:
    return current_months()


@pytest.fixture(scope="session")
def running_identity_provider() -> Iterator[IdentityProvider]:
    with serving() as running:
        yield running


@pytest.fixture
def identity_provider(running_identity_provider: IdentityProvider, settings: Settings) -> IdentityProvider:
    """Configure sign-in through an identity provider, which behaves correctly by default."""
    running_identity_provider.reset()
    settings.SOCIALACCOUNT_PROVIDERS = providers_of(running_identity_provider)
    return running_identity_provider
