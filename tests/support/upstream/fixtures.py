"""Fixtures: a fake upstream for the session, reset for each test. Imported by conftest files."""

from collections.abc import Iterator

import pytest

from tests.support.upstream.server import FakeUpstream


@pytest.fixture(scope="session")
def running_upstream() -> Iterator[FakeUpstream]:
    """Run the fake upstream for the session."""
    with FakeUpstream() as running:
        yield running


@pytest.fixture
def upstream(running_upstream: FakeUpstream) -> FakeUpstream:
    """Empty it."""
    running_upstream.reset()
    return running_upstream
