"""Fixtures: a server that stands for the public internet when the gateway fetches. Imported by conftest files."""

from collections.abc import Iterator

import pytest

from inference.adapters import fetched_images
from tests.support.image_host import ImageHost


@pytest.fixture(scope="session")
def running_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ImageHost]:
    """Run the server for the session."""
    with ImageHost(tmp_path_factory.mktemp("image-host")) as running:
        yield running


@pytest.fixture
def host(running_host: ImageHost, monkeypatch: pytest.MonkeyPatch) -> ImageHost:
    """Run an empty server from which the real fetcher gets images."""
    running_host.empty()
    monkeypatch.setattr(fetched_images, "FETCHER", running_host.fetcher())
    return running_host
