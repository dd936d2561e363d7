"""Fixtures: a gateway, callers with money, and an upstream that misbehaves."""

from collections.abc import Iterator

import pytest

from tests.inference.misbehaviour.wire import MisbehavingUpstream
from tests.support.stage_fixtures import db, gateway, stage, upstream  # noqa: F401


@pytest.fixture(scope="session")
def misbehaving() -> Iterator[MisbehavingUpstream]:
    with MisbehavingUpstream() as running:
        yield running
