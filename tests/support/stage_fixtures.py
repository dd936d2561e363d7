"""Fixtures: a gateway under real uvicorn, a fake upstream, and callers with money. Rows are really committed.

Every test creates its own accounts and models, so nothing has to be cleaned up between tests. Imported by conftest
files.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connections

from tests.support.serving import RunningGateway
from tests.support.stage import Stage
from tests.support.upstream import FakeUpstream

API_KEY = "sk-upstream-secret-0001"


@pytest.fixture(autouse=True)
def db(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Allow a test and the server's threads to commit, in place of the fixture that rolls a test back."""
    with django_db_blocker.unblock():
        yield
        connections.close_all()


@pytest.fixture(scope="session")
def upstream() -> Iterator[FakeUpstream]:
    """Run a fake upstream for the session."""
    with FakeUpstream(api_key=API_KEY) as running:
        yield running


@pytest.fixture(scope="session")
def gateway(django_db_setup: None, django_db_blocker: Any) -> Iterator[RunningGateway]:
    """Run a gateway for the session."""
    with django_db_blocker.unblock(), RunningGateway() as running:
        yield running


@pytest.fixture
def stage(gateway: RunningGateway, upstream: FakeUpstream) -> Iterator[Stage]:
    """Set up a test's own stage."""
    from inference.metering import routing, upstream_keys
    from inference.queries import catalogue

    upstream.reset()
    routing.forget()
    upstream_keys.forget()
    catalogue.forget()
    stage = Stage(gateway.origin, upstream, API_KEY)
    yield stage
    stage.close()
