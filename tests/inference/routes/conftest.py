"""Tests of metered routes from outside, over real sockets."""

from collections.abc import Iterator

import pytest

from tests.inference.routes.stored import alias, caller  # noqa: F401
from tests.support.image_host_fixtures import host, running_host  # noqa: F401
from tests.support.stage_fixtures import db, gateway, stage, upstream  # noqa: F401
from tests.support.vector_upstreams import RepresentationUpstream


@pytest.fixture(scope="module")
def running() -> Iterator[RepresentationUpstream]:
    """Run an upstream of vectors for a file's tests."""
    with RepresentationUpstream() as vectors:
        yield vectors
