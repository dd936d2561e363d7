"""Tests of metered routes from outside, over real sockets."""

from collections.abc import Iterator

import pytest

from inference.adapters import fetched_images
from tests.support.image_host import ImageHost
from tests.support.stage_fixtures import db, gateway, stage, upstream  # noqa: F401


@pytest.fixture(scope="session")
def running_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ImageHost]:
    with ImageHost(tmp_path_factory.mktemp("image-host")) as running:
        yield running


@pytest.fixture
def host(running_host: ImageHost, monkeypatch: pytest.MonkeyPatch) -> ImageHost:
    """A server that is the public internet; everything else of the fetcher is as it is."""
    running_host.pages.clear()
    running_host.requests.clear()
    monkeypatch.setattr(fetched_images, "FETCHER", running_host.fetcher())
    return running_host
