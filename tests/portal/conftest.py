"""Every test of the portal starts with nobody's attempts counted."""

import pytest
from django.core.cache import cache

from tests.support.stripe.fixtures import provider, running_provider  # noqa: F401


@pytest.fixture(autouse=True)
def no_attempts_yet() -> None:
    cache.clear()
