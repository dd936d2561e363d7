"""Every test of the portal starts with nobody's attempts counted."""

from collections.abc import Iterator

import pytest
from django.core.cache import cache
from pytest_django import Settings

from tests.portal.identity_provider import CLIENT_ID, CLIENT_SECRET, IdentityProvider, serving
from tests.portal.organization_house import House
from tests.support.stripe.fixtures import provider, running_provider  # noqa: F401


@pytest.fixture(autouse=True)
def no_attempts_yet() -> None:
    cache.clear()


@pytest.fixture
def house() -> House:
    return House()


@pytest.fixture(scope="session")
def running_identity_provider() -> Iterator[IdentityProvider]:
    with serving() as running:
        yield running


@pytest.fixture
def identity_provider(running_identity_provider: IdentityProvider, settings: Settings) -> IdentityProvider:
    """Offer a sign-in through an identity provider that does nothing odd yet."""
    running_identity_provider.reset()
    app = {
        "provider_id": "sso",
        "name": "Example SSO",
        "client_id": CLIENT_ID,
        "secret": CLIENT_SECRET,
        "settings": {"server_url": running_identity_provider.issuer},
    }
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": [app]}}
    return running_identity_provider
