"""Fixtures: a gateway, callers with money, and an upstream that misbehaves."""

from collections.abc import Iterator
from typing import Any

import pytest

from inference.metering import routing
from tests.inference.misbehaviour.aliases import Aliases
from tests.inference.misbehaviour.wire import MisbehavingUpstream
from tests.support.serving import RunningGateway
from tests.support.stage import Stage
from tests.support.stage_fixtures import API_KEY, brief_pauses, db, gateway, upstream  # noqa: F401
from tests.support.upstream import FakeUpstream


@pytest.fixture(scope="session")
def misbehaving() -> Iterator[MisbehavingUpstream]:
    with MisbehavingUpstream() as running:
        yield running


@pytest.fixture(scope="module")
def _lasting_stage(
    gateway: RunningGateway,  # noqa: F811
    upstream: FakeUpstream,  # noqa: F811
    django_db_blocker: Any,
) -> Iterator[Stage]:
    stage = Stage(gateway.origin, upstream, API_KEY)
    yield stage
    with django_db_blocker.unblock():
        stage.close()


@pytest.fixture
def stage(_lasting_stage: Stage) -> Iterator[Stage]:
    """Return a stage whose models last as long as the test file."""
    routing.forget()
    with brief_pauses():
        yield _lasting_stage


@pytest.fixture(scope="module")
def aliases(_lasting_stage: Stage) -> Aliases:
    return Aliases(_lasting_stage)
