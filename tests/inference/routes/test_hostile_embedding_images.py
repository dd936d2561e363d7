"""Hostile images among the inputs of embeddings: refused before anything is held or sent, whatever they are."""

from collections.abc import Iterator
from typing import Any

import pytest

from inference.adapters import fetched_images
from tests.factories.images import PNG
from tests.inference.routes.vectors import Bench, alias_options, bench
from tests.support import hostile_images
from tests.support.image_host import ImageHost, answer
from tests.support.stage import EMBEDDINGS, Stage
from tests.support.vector_upstreams import RepresentationUpstream

PARAM = "input.1.image_url.url"


@pytest.fixture
def world(stage: Stage, running: RepresentationUpstream, host: ImageHost) -> Iterator[Bench]:
    with bench(stage, running, EMBEDDINGS) as made:
        made.serve(options=alias_options(EMBEDDINGS), context_tokens=500)
        yield made


def embed(world: Bench, url: str) -> Any:
    return world.post(input=["a badger", {"type": "image_url", "image_url": {"url": url}}])


@pytest.mark.parametrize("url", hostile_images.URLS)
def test_an_address_that_is_not_public_is_refused_without_a_look_up(
    world: Bench, host: ImageHost, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    looked_up: list[str] = []
    monkeypatch.setattr(fetched_images, "FETCHER", host.fetcher(look_up=hostile_images.noting(looked_up)))
    world.assert_refused(embed(world, url), 400, "image_rejected", PARAM)
    assert looked_up == []


@pytest.mark.parametrize("name", hostile_images.RESOLVED)
def test_a_name_of_such_an_address_is_not_connected_to(
    world: Bench, host: ImageHost, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    look_up = hostile_images.resolving(*hostile_images.RESOLVED[name])
    monkeypatch.setattr(fetched_images, "FETCHER", host.fetcher(look_up=look_up))
    host.pages["/a"] = answer(PNG)
    world.assert_refused(embed(world, host.url("/a")), 400, "image_rejected", PARAM)
    assert host.requests == []


def test_the_address_that_was_checked_is_the_one_that_is_connected_to(
    world: Bench, host: ImageHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[str] = []
    monkeypatch.setattr(fetched_images, "FETCHER", host.fetcher(look_up=hostile_images.rebinding(looked_up)))
    host.pages["/a"] = answer(PNG)
    assert embed(world, host.url("/a")).status_code == 200
    assert len(looked_up) == len(host.requests) == 1
    again = embed(world, host.url("/a"))
    assert (again.status_code, again.json()["error"]["code"]) == (400, "image_rejected")
    assert (len(looked_up), len(host.requests), len(world.caller.calls)) == (2, 1, 1)


@pytest.mark.parametrize("page", hostile_images.PAGES)
def test_a_server_that_misbehaves_costs_nothing(world: Bench, host: ImageHost, page: str) -> None:
    host.pages |= {"/a": hostile_images.PAGES[page](host), "/b": answer(PNG)}
    world.assert_refused(embed(world, host.url("/a")), 400, "image_rejected", PARAM)
    assert len(host.requests) == 1, "nothing is followed"


@pytest.mark.parametrize("page", hostile_images.SLOW_PAGES)
def test_a_server_that_is_slow_costs_nothing(
    world: Bench, host: ImageHost, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    monkeypatch.setattr(fetched_images, "FETCHER", host.fetcher(seconds=hostile_images.PATIENCE_SECONDS))
    host.pages["/a"] = hostile_images.SLOW_PAGES[page](host)
    world.assert_refused(embed(world, host.url("/a")), 400, "image_rejected", PARAM)
