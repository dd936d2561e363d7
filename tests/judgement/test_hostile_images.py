"""Hostile images in judgements are refused before anything is held or sent."""

from typing import Any

import pytest

from inference.adapters import fetched_images
from tests.factories.images import PNG
from tests.judgement.bench import Bench, ask, post
from tests.judgement.test_images import data_url, vision
from tests.judgement.test_judgement import assert_refused
from tests.support import hostile_images
from tests.support.image_host import ImageHost, answer

pytestmark = pytest.mark.usefixtures("host")


def judge(bench: Bench, url: str) -> tuple[Any, Any]:
    backend, caller = vision(bench), bench.caller()
    return caller, post(caller, ask(model=backend, images=[data_url(PNG), url]))


@pytest.mark.parametrize("url", hostile_images.URLS)
def test_an_address_that_is_not_public_is_refused_without_a_look_up(
    bench: Bench, host: ImageHost, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    looked_up: list[str] = []
    monkeypatch.setattr(fetched_images, "FETCHER", host.fetcher(look_up=hostile_images.noting(looked_up)))
    assert_refused(bench, *judge(bench, url), 400, "image_rejected", "images.1")
    assert looked_up == []


@pytest.mark.parametrize("name", hostile_images.RESOLVED)
def test_a_name_of_such_an_address_is_not_connected_to(
    bench: Bench, host: ImageHost, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    look_up = hostile_images.resolving(*hostile_images.RESOLVED[name])
    monkeypatch.setattr(fetched_images, "FETCHER", host.fetcher(look_up=look_up))
    host.pages["/a"] = answer(PNG)
    assert_refused(bench, *judge(bench, host.url("/a")), 400, "image_rejected", "images.1")
    assert host.requests == []


def test_the_address_that_was_checked_is_the_one_that_is_connected_to(
    bench: Bench, host: ImageHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[str] = []
    monkeypatch.setattr(fetched_images, "FETCHER", host.fetcher(look_up=hostile_images.rebinding(looked_up)))
    host.pages["/a"] = answer(PNG)
    backend, caller = vision(bench), bench.caller()
    images = [data_url(PNG), host.url("/a")]
    assert post(caller, ask(model=backend, images=images)).status_code == 200
    assert len(looked_up) == len(host.requests) == 1
    again = post(caller, ask(model=backend, images=images))
    assert (again.status_code, again.json()["error"]["code"]) == (400, "image_rejected")
    assert (len(looked_up), len(host.requests), len(caller.calls)) == (2, 1, 1)


@pytest.mark.parametrize("page", hostile_images.PAGES)
def test_a_server_that_misbehaves_costs_nothing(bench: Bench, host: ImageHost, page: str) -> None:
    host.pages |= {"/a": hostile_images.PAGES[page](host), "/b": answer(PNG)}
    assert_refused(bench, *judge(bench, host.url("/a")), 400, "image_rejected", "images.1")
    assert len(host.requests) == 1, "nothing is followed"


@pytest.mark.parametrize("page", hostile_images.SLOW_PAGES)
def test_a_server_that_is_slow_costs_nothing(
    bench: Bench, host: ImageHost, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    monkeypatch.setattr(fetched_images, "FETCHER", host.fetcher(seconds=hostile_images.PATIENCE_SECONDS))
    host.pages["/a"] = hostile_images.SLOW_PAGES[page](host)
    assert_refused(bench, *judge(bench, host.url("/a")), 400, "image_rejected", "images.1")
