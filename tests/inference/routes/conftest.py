"""Tests of metered routes from outside, over real sockets."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.inference.routes.stored import alias, caller  # noqa: F401
from tests.support.image_host_fixtures import host, running_host  # noqa: F401
from tests.support.kept_models import KeptModels
from tests.support.serving import RunningGateway, is_busy, wait_for_abandoned_calls
from tests.support.stage import Stage
from tests.support.stage_fixtures import db, gateway, staged, upstream  # noqa: F401
from tests.support.upstream import FakeUpstream
from tests.support.vector_upstreams import RepresentationUpstream

ENDING_SECONDS = 0.05
"""How long a test's last call may take to end behind its answer; the models of one that takes longer are not kept."""


@pytest.fixture(scope="module")
def running() -> Iterator[RepresentationUpstream]:
    """Run an upstream of vectors for a file's tests."""
    with RepresentationUpstream() as vectors:
        yield vectors


@pytest.fixture(scope="module")
def kept_models(django_db_setup: None, django_db_blocker: Any) -> Iterator[KeptModels]:
    """Keep a file's models: a test that makes one like an earlier test gets that one."""
    kept = KeptModels()
    yield kept
    with django_db_blocker.unblock():
        kept.drop()


@pytest.fixture
def stage(gateway: RunningGateway, upstream: FakeUpstream, kept_models: KeptModels) -> Iterator[Stage]:  # noqa: F811
    """Set up a test's stage, with the file's models."""
    kept_models.begin()
    with staged(gateway, upstream, kept_models) as stage:
        yield stage
    wait_for_abandoned_calls(ENDING_SECONDS)
    kept_models.end(is_busy=is_busy())
