"""What tests of organizations share: a payment provider, and an organization that owes seats, for those who ask."""

from collections.abc import Iterator

import pytest

from billing.queries import audit
from tests.organizations.tenant import Tenant
from tests.support.stripe import FakeStripe
from tests.support.stripe.fixtures import provider, running_provider  # noqa: F401


@pytest.fixture
def tenant(db: None, provider: FakeStripe) -> Iterator[Tenant]:  # noqa: F811
    """An organization that owes two seats; the money is audited when the test is over."""
    tenant = Tenant(provider)
    yield tenant
    assert audit.findings() == []
