"""Fixtures: a gateway under real uvicorn, a fake upstream, and callers with money. Rows are really committed.

Every test creates its own accounts and models, so nothing has to be cleaned up between tests. Imported by conftest
files.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connections

from tests.support.kept_models import KeptModels
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
    from inference.queries import catalogue

    catalogue.forget()
    with staged(gateway, upstream) as stage:
        yield stage


@contextmanager
def staged(gateway: RunningGateway, upstream: FakeUpstream, kept: KeptModels | None = None) -> Iterator[Stage]:
    """Set up a stage, at which nothing is left of earlier tests but models that are kept."""
    from inference.metering import routing, upstream_keys

    upstream.reset()
    routing.forget()
    upstream_keys.forget()
    stage = Stage(gateway.origin, upstream, API_KEY, kept)
    with brief_pauses():
        yield stage
    stage.close()


@contextmanager
def brief_pauses() -> Iterator[None]:
    """Send calls again at once. `tests/inference/test_retries.py` tests how long the pauses are; each takes a tenth of a second
    and more."""
    from inference.metering import sending

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sending, "_BACKOFF_SECONDS", 0.001)
        yield
