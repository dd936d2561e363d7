"""Whatever a test does to the ledger, every amount must be accounted for afterwards."""

from collections.abc import Iterator

import pytest

from billing.operations import reviews
from billing.queries import audit
from tests.factories.billing import Purse

APART = {"payments_match_checkouts", "dates_are_in_order", "key_is_kept_for_a_day"}
"""What tests of single functions do without: checkouts, and a clock that only goes forward."""


def unsound(*apart: str) -> list[audit.Finding]:
    """Audit amounts, apart from these invariants."""
    return [finding for finding in audit.findings() if finding.invariant not in APART.union(apart)]


@pytest.fixture
def audited(db: None) -> Iterator[None]:
    """Audit the ledger when the test is over."""
    yield
    assert unsound() == []


@pytest.fixture
def purse(audited: None) -> Purse:
    """An account's wallet; the ledger is audited when the test is over."""
    return Purse()


@pytest.fixture
def org(audited: None) -> Purse:
    """An organization's wallet; the ledger is audited when the test is over."""
    return Purse("organization", "org_acme")


@pytest.fixture
def look_ups() -> Iterator[None]:
    """The registered look-ups, none at first; what was registered is restored."""
    registered = list(reviews._sources)
    reviews._sources.clear()
    yield
    reviews._sources[:] = registered
