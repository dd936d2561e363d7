"""Images among the inputs of embeddings: checked, and fetched where they are URLs, before anything is held."""

import base64
from collections.abc import Iterator
from typing import Any

import pytest

from tests.factories.images import GIF, JPEG, PNG, WEBP
from tests.inference.routes.vectors import Bench, alias_options, bench
from tests.support.image_host import ImageHost, answer
from tests.support.stage import EMBEDDINGS, Stage
from tests.support.vector_upstreams import RepresentationUpstream
from tests.support.vector_upstreams.ours import IMAGE_TOKENS
from tests.support.vector_upstreams.server import vector

CONTEXT = 500
OPTIONS = alias_options(EMBEDDINGS)
MEGABYTE = 1024 * 1024


@pytest.fixture
def world(stage: Stage, running: RepresentationUpstream, host: ImageHost) -> Iterator[Bench]:
    with bench(stage, running, EMBEDDINGS) as made:
        made.serve(options=OPTIONS, context_tokens=CONTEXT)
        yield made


def data_url(data: bytes, label: str = "image/png") -> str:
    return f"data:{label};base64,{base64.b64encode(data).decode()}"


def image(url: Any) -> Any:
    return {"type": "image_url", "image_url": {"url": url}}


def sent(data: bytes, media_type: str) -> Any:
    return {"type": "image", "media_type": media_type, "data": base64.b64encode(data).decode()}


def test_images_go_upstream_as_bytes_under_their_own_type(world: Bench, host: ImageHost) -> None:
    host.pages["/a"] = answer(WEBP, headers="Content-Type: text/html\r\n")
    inputs = ["a badger", image(data_url(PNG)), image(data_url(JPEG, "image/png")), image(host.url("/a"))]
    response = world.post(input=inputs)
    assert response.status_code == 200, response.text
    [call] = world.upstream.requests
    images = [sent(PNG, "image/png"), sent(JPEG, "image/jpeg"), sent(WEBP, "image/webp")]
    assert call.body["input"] == [{"type": "text", "text": "a badger"}, *images]
    assert response.json()["data"][3]["embedding"] == vector(base64.b64encode(WEBP).decode(), 8)
    assert world.caller.only_call.hold_microusd == 2 * (len("a badger") + 4 * 32 + 3 * CONTEXT)
    world.assert_charged(2 * (2 + 3 * IMAGE_TOKENS))


def test_an_item_is_charged_by_its_price(world: Bench) -> None:
    world.serve(options=OPTIONS, price={"input_item": "12"})
    assert world.post(input=[image(data_url(PNG)), "x"]).status_code == 200
    world.assert_charged(24)


def test_a_text_beside_it_is_charged_only_by_its_own_price(world: Bench) -> None:
    world.serve(options=OPTIONS, price={"input_item": "12", "input_kilobyte": "5"})
    assert world.post(input=[image(data_url(PNG)), "x", "y"]).status_code == 200
    world.assert_charged(12 + 5)
    assert world.caller.only_call.usage_record.items == 1


def test_an_image_that_has_no_price_is_unavailable(world: Bench) -> None:
    world.serve(options=OPTIONS, price={"input_kilobyte": "12"})
    world.assert_refused(world.post(input=[image(data_url(PNG))]), 503, "model_unavailable")


def test_an_image_whose_tokens_nobody_can_bound_is_unavailable(world: Bench) -> None:
    world.serve(options=OPTIONS)
    world.assert_refused(world.post(input=[image(data_url(PNG))]), 503, "model_unavailable")


@pytest.mark.parametrize(
    "url",
    [
        data_url(GIF, "image/gif"),
        data_url(b"<svg/>", "image/svg+xml"),
        data_url(b"text", "image/png"),
        "data:image/png;base64,***",
        "http://images.example/a.png",
        "https://127.0.0.1/a.png",
        "https://2130706433/a.png",
        "https://0177.0.0.1/a.png",
        "https://[::ffff:169.254.169.254]/a.png",
        "https://user:pass@images.example/a.png",
        "https://localhost/a.png",
        "",
    ],
)
def test_what_is_no_public_image_is_rejected(world: Bench, host: ImageHost, url: str) -> None:
    response = world.post(input=["x", image(url)])
    world.assert_refused(response, 400, "image_rejected", "input.1.image_url.url")
    assert host.requests == []


@pytest.mark.parametrize("member", [None, 5, [], {}])
def test_an_image_needs_a_url(world: Bench, member: Any) -> None:
    response = world.post(input=[{"type": "image_url", "image_url": member}])
    world.assert_refused(response, 400, "invalid_request", "input.0.image_url.url")


@pytest.mark.parametrize(
    "page",
    [
        answer(b"", status="302 Found", headers="Location: https://images.example/b\r\n"),
        answer(b"<html>"),
        answer(GIF),
        answer(PNG, status="404 Not Found"),
        answer(PNG + b"\0" * 5 * MEGABYTE),
    ],
)
def test_what_is_not_fetched_is_rejected(world: Bench, host: ImageHost, page: bytes) -> None:
    host.pages["/a"] = page
    response = world.post(input=[image(host.url("/a"))])
    world.assert_refused(response, 400, "image_rejected", "input.0.image_url.url")


def test_an_image_may_have_five_megabytes(world: Bench) -> None:
    padded = PNG + b"\0" * (5 * MEGABYTE - len(PNG))
    assert world.post(input=[image(data_url(padded))]).status_code == 200
    response = world.post(input=[image(data_url(padded + b"\0"))])
    assert (response.status_code, response.json()["error"]["code"]) == (400, "image_rejected")
    assert response.json()["error"]["param"] == "input.0.image_url.url"


def test_images_together_may_have_ten_megabytes(world: Bench, host: ImageHost) -> None:
    large = PNG + b"\0" * (5 * MEGABYTE - len(PNG))
    host.pages["/a"], host.pages["/b"] = answer(large), answer(PNG)
    assert world.post(input=[image(data_url(large)), image(host.url("/a"))]).status_code == 200
    for last in (host.url("/b"), data_url(PNG)):
        response = world.post(input=[image(data_url(large)), image(data_url(large)), image(last)])
        assert (response.status_code, response.json()["error"]["code"]) == (400, "image_rejected")
        assert response.json()["error"]["param"] == "input.2.image_url.url"
    assert len(world.caller.calls) == 1


def test_eight_inputs_may_be_images(world: Bench) -> None:
    assert world.post(input=[image(data_url(PNG))] * 8).status_code == 200
    response = world.post(input=["x", *[image(data_url(PNG))] * 9])
    assert (response.status_code, response.json()["error"]["param"]) == (400, "input.9")
    assert len(world.caller.calls) == 1
