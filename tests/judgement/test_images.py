"""Images in judgements: only for vision backends, at most four, checked or fetched before the hold."""

import base64
from typing import Any

import pytest

from tests.factories.images import GIF, JPEG, PNG, WEBP
from tests.judgement.bench import BALANCE, Bench, ask, post
from tests.judgement.test_judgement import assert_refused
from tests.support.image_host import ImageHost, answer

pytestmark = pytest.mark.usefixtures("host")

MAX_BYTES = 5 * 1024 * 1024


def data_url(data: bytes, label: str = "image/png") -> str:
    return f"data:{label};base64,{base64.b64encode(data).decode()}"


def vision(bench: Bench, adapter: str = "judgement", **fields: Any) -> str:
    backend = bench.backend(adapter=adapter, **fields)
    bench.choose(vision=backend)
    return backend


def big(size: int) -> bytes:
    return PNG + b"\0" * (size - len(PNG))


def test_images_go_upstream_as_bytes_under_their_real_type(bench: Bench, host: ImageHost) -> None:
    backend, caller = vision(bench), bench.caller()
    host.pages["/b.jpg"] = answer(JPEG, headers="Content-Type: image/png\r\n")
    images = [data_url(PNG), host.url("/b.jpg"), data_url(WEBP, "image/png")]
    body = post(caller, ask(model="judgement-vision", images=images)).json()
    assert body["model"].startswith(f"{backend}/")
    assert bench.upstream.ledger.entries[0].body["images"] == [
        data_url(PNG),
        data_url(JPEG, "image/jpeg"),
        data_url(WEBP, "image/webp"),
    ]
    assert caller.only_call.state == "settled"


def test_a_text_model_gets_them_as_parts_of_its_message(bench: Bench) -> None:
    backend, caller = vision(bench, "openai"), bench.caller()
    assert post(caller, ask(model=backend, images=[data_url(PNG)])).status_code == 200
    content = bench.upstream.ledger.entries[0].body["messages"][1]["content"]
    assert content[1:] == [{"type": "image_url", "image_url": {"url": data_url(PNG)}}]


def test_the_vision_backend_judges_a_state_without_images_too(bench: Bench) -> None:
    vision(bench)
    assert post(bench.caller(), ask(model="judgement-vision")).status_code == 200


def test_the_hold_covers_the_branch_limit_of_each_question(bench: Bench) -> None:
    backend, caller = vision(bench), bench.caller()
    questions = {name: ask()["questions"]["grounded"] for name in ("a", "b")}
    held = post(caller, ask(model=backend, questions=questions, images=[data_url(PNG)]))
    assert held.headers["x-service-hold-microusd"] == "8192"  # two branches at half a micro-USD per token


def test_a_larger_context_is_the_bound(bench: Bench) -> None:
    backend, caller = vision(bench, context_tokens=100_000), bench.caller()
    held = post(caller, ask(model=backend, images=[data_url(PNG)]))
    assert held.headers["x-service-hold-microusd"] == "50000"


def test_a_backend_that_takes_none_refuses_them(bench: Bench) -> None:
    vision(bench)
    other, caller = bench.backend(), bench.caller()
    refused = post(caller, ask(model=other, images=[data_url(PNG)]))
    assert_refused(bench, caller, refused, 400, "images_unsupported", "images")


def test_an_unavailable_backend_says_that_instead(bench: Bench) -> None:
    caller = bench.caller()
    refused = post(caller, ask(model="judgement-vision", images=[data_url(PNG)]))
    assert_refused(bench, caller, refused, 503, "model_unavailable")


@pytest.mark.parametrize(
    ("images", "param"),
    [([data_url(PNG)] * 5, "images"), ([7], "images.0"), ([data_url(PNG), None], "images.1"), ("x", "images")],
)
def test_anything_but_a_list_of_four_urls_is_refused(bench: Bench, images: Any, param: str) -> None:
    backend, caller = vision(bench), bench.caller()
    assert_refused(bench, caller, post(caller, ask(model=backend, images=images)), 400, "invalid_request", param)


@pytest.mark.parametrize(
    "image",
    [
        data_url(GIF, "image/gif"),
        data_url(b"text"),
        "data:image/png;base64,***",
        "data:text/plain;base64,AAAA",
        "http://images.example/a.png",
        "https://127.0.0.1/a.png",
        "https://169.254.169.254/latest",
        "https://localhost/a.png",
        "file:///etc/passwd",
        "",
        data_url(big(MAX_BYTES + 1)),
    ],
)
def test_an_image_that_is_none(bench: Bench, image: str) -> None:
    backend, caller = vision(bench), bench.caller()
    refused = post(caller, ask(model=backend, images=[data_url(PNG), image]))
    assert_refused(bench, caller, refused, 400, "image_rejected", "images.1")


@pytest.mark.parametrize("page", ["large", "redirect", "missing", "gif"])
def test_a_remote_image_that_is_none(bench: Bench, host: ImageHost, page: str) -> None:
    host.pages["/x"] = {
        "large": answer(big(MAX_BYTES + 1)),
        "redirect": answer(b"", status="302 Found", headers="Location: https://127.0.0.1/\r\n"),
        "missing": answer(b"", status="404 Not Found"),
        "gif": answer(GIF),
    }[page]
    backend, caller = vision(bench), bench.caller()
    refused = post(caller, ask(model=backend, images=[host.url("/x")]))
    assert_refused(bench, caller, refused, 400, "image_rejected", "images.0")


def test_four_images_of_five_megabytes_are_accepted(bench: Bench, host: ImageHost) -> None:
    for number in range(4):
        host.pages[f"/{number}"] = answer(big(MAX_BYTES))
    backend, caller = vision(bench), bench.caller()
    taken = post(caller, ask(model=backend, images=[host.url(f"/{number}") for number in range(4)]))
    assert (taken.status_code, caller.only_call.state) == (200, "settled")
    assert [len(url) for url in bench.upstream.ledger.entries[0].body["images"]] == [len(data_url(big(MAX_BYTES)))] * 4


def test_a_fallback_gets_images_only_if_it_is_the_vision_backend(bench: Bench) -> None:
    source, text = bench.backend("overloaded"), bench.backend("judge-2")
    bench.choose(vision=source)
    bench.fall_back(source, text)
    caller = bench.caller()
    refused = post(caller, ask(model=source, images=[data_url(PNG)], allow_fallback=True))
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "upstream_overloaded")
    assert caller.wallet == {"balance": BALANCE, "held": 0, "debt": 0}
    assert {entry.model for entry in bench.upstream.ledger.entries} == {"overloaded"}
