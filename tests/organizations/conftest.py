"""Shared fixtures: a payment provider, and an organization that owes money for seats."""

from collections.abc import Iterator

import pytest

from billing.queries import audit
from tests.organizations.tenant import Tenant
from tests.support.many_requests import remembered_sign_ins, unrecorded_pages, untracked  # noqa: F401
from tests.support.stripe import FakeStripe
from tests.support.stripe.fixtures import provider, running_provider  # noqa: F401


@pytest.fixture
def tenant(db: None, provider: FakeStripe) -> Iterator[Tenant]:  # noqa: F811
    """An organization that owes money for two seats. The ledger is audited after the test."""
    tenant = Tenant(provider)
    yield tenant
    assert audit.findings() == []
