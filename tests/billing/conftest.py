"""Whatever a test does to the ledger, every amount must be accounted for afterwards."""

from collections.abc import Iterator

import pytest

from billing.queries import audit
from tests.factories.billing import Purse


@pytest.fixture
def purse(db: None) -> Iterator[Purse]:
    """An account's wallet; the ledger is audited when the test is over."""
    yield Purse()
    assert audit.findings() == []


@pytest.fixture
def org(db: None) -> Iterator[Purse]:
    """An organization's wallet; the ledger is audited when the test is over."""
    yield Purse("organization", "org_acme")
    assert audit.findings() == []
