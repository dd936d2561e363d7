"""Fixtures for judgements over real sockets: a gateway, a fake backend, and callers with money."""

from collections.abc import Iterator

import pytest

from tests.judgement.bench import Bench
from tests.judgement.judges import JudgeUpstream
from tests.support.image_host_fixtures import host, running_host  # noqa: F401
from tests.support.observed import observed  # noqa: F401
from tests.support.stage import Stage
from tests.support.stage_fixtures import API_KEY, db, gateway, stage  # noqa: F401


@pytest.fixture(scope="session")
def upstream() -> Iterator[JudgeUpstream]:
    """Run a fake judgement backend for the session."""
    with JudgeUpstream(API_KEY) as running:
        yield running


@pytest.fixture
def bench(stage: Stage, upstream: JudgeUpstream) -> Bench:  # noqa: F811
    """Provide a test with backends and callers."""
    return Bench(stage, upstream)
