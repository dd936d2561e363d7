"""Fixtures: an owner who saved a payment method. The ledger is audited when a test is over."""

from collections.abc import Iterator

import pytest

from billing.queries import audit
from tests.billing.auto_top_up.saver import Saver
from tests.support.stripe import FakeStripe
from tests.support.stripe.fixtures import provider, running_provider  # noqa: F401


@pytest.fixture
def saver(db: None, provider: FakeStripe) -> Iterator[Saver]:  # noqa: F811
    saver = Saver(provider)
    yield saver
    assert audit.findings() == []
