"""Fixtures: a payment provider for the session, and a gateway configured for it. Imported by conftest files."""

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from tests.support.stripe.server import FakeStripe


@pytest.fixture(scope="session")
def running_provider() -> Iterator[FakeStripe]:
    """Run the fake provider for the session."""
    with FakeStripe() as running:
        yield running


@pytest.fixture
def provider(running_provider: FakeStripe, settings: Settings) -> FakeStripe:
    """Configure payments in test mode, with an empty provider."""
    running_provider.reset()
    settings.STRIPE_SECRET_KEY = running_provider.secret_key
    settings.STRIPE_WEBHOOK_SECRET = [running_provider.webhooks.secret]
    settings.STRIPE_API_BASE = running_provider.origin
    settings.STRIPE_TIMEOUT_SECONDS = 30.0
    return running_provider
