"""Images of a chat: checked, and fetched where they are URLs, before anything is held."""

import base64
import socket
from typing import Any

import pytest

from inference.adapters import fetched_images
from tests.factories.images import GIF, JPEG, PNG, WEBP
from tests.support.image_host import ImageHost, answer
from tests.support.stage import Stage, chat

CONTEXT = 3000


def data_url(data: bytes, label: str = "image/png") -> str:
    return f"data:{label};base64,{base64.b64encode(data).decode()}"


def showing(*urls: Any, plain: bool = False) -> list[Any]:
    parts = [{"type": "image_url", "image_url": url if plain else {"url": url, "detail": "low"}} for url in urls]
    return [
        {"role": "system", "content": "Look."},
        {"role": "user", "content": [{"type": "text", "text": "see"}, *parts]},
    ]


def ask(stage: Stage, messages: list[Any], **fields: Any) -> tuple[Any, Any]:
    alias, caller = stage.model(max_output_tokens=20, context_tokens=CONTEXT, **fields), stage.caller()
    return caller, caller.post(chat(alias, messages=messages))


def sent_urls(stage: Stage) -> list[str]:
    [entry] = stage.upstream.ledger
    return [part["image_url"]["url"] for part in entry.body["messages"][1]["content"][1:]]


def assert_rejected(stage: Stage, caller: Any, answer: Any, part: int = 1) -> str:
    error = answer.json()["error"]
    param = f"messages.1.content.{part}.image_url.url"
    assert (answer.status_code, error["code"], error["param"]) == (400, "image_rejected", param)
    assert caller.calls == []
    assert caller.wallet == {"balance": 1_000_000, "held": 0, "debt": 0}
    assert len(stage.upstream.ledger) == 0
    return str(error["message"])


@pytest.mark.parametrize(
    ("data", "label"), [(PNG, "image/png"), (JPEG, "image/jpeg"), (WEBP, "image/webp"), (GIF, "image/gif")]
)
def test_a_data_url_of_an_image_passes_as_it_came(stage: Stage, data: bytes, label: str) -> None:
    _, answer = ask(stage, showing(data_url(data, label)))
    assert answer.status_code == 200
    assert sent_urls(stage) == [data_url(data, label)]


def test_an_image_with_the_label_of_another_type_goes_upstream_under_its_own(stage: Stage) -> None:
    _, answer = ask(stage, showing(data_url(PNG), data_url(JPEG, "image/png"), data_url(GIF, "image/jpg")))
    assert answer.status_code == 200
    assert sent_urls(stage) == [data_url(PNG), data_url(JPEG, "image/jpeg"), data_url(GIF, "image/gif")]


@pytest.mark.parametrize(
    "url",
    [
        "data:image/png;base64,not base64!",
        "data:image/png;base64,iVBORw0KGg",
        "data:image/png;base64,iVBO!Rw0KGgo=",
        "data:image/png;base64,iVBO\nRw0KGgo=",
        "data:image/png;base64,",
        "data:image/png,iVBORw0KGgo=",
        "data:image/png;base64",
        "data:image/png;charset=utf-8;base64,iVBORw0KGgo=",
        "data:text/html;base64,iVBORw0KGgo=",
        "data:image/png;base64,iVBORw0KGgo=\u00e9",
        data_url(b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml"),
        data_url(b"<html>", "image/png"),
        data_url(b"\x89PNG\r\n\x1a", "image/png"),
        data_url(b"RIFF\x24\0\0\0WAVEfmt ", "image/webp"),
        data_url(b"BM" + b"\0" * 40, "image/png"),
        data_url(b"GIF88a", "image/gif"),
        "http://images.example/a.png",
        "ftp://images.example/a.png",
        "https://127.0.0.1/a.png",
        "https://[::ffff:10.0.0.1]/a.png",
        "https://0x7f.1/a.png",
        "file:///etc/passwd",
        "",
    ],
)
def test_what_is_no_image_is_rejected_before_anything_is_spent(stage: Stage, url: str) -> None:
    caller, answer = ask(stage, showing(data_url(PNG), url))
    assert_rejected(stage, caller, answer, part=2)


def test_a_url_is_fetched_and_its_image_goes_upstream(stage: Stage, host: ImageHost) -> None:
    host.pages["/a"], host.pages["/b"] = answer(WEBP, headers="Content-Type: text/plain\r\n"), answer(PNG)
    messages = showing(host.url("/a"), data_url(JPEG, "image/jpeg"), host.url("/b"), host.url("/a"))
    caller, response = ask(stage, messages)
    assert response.status_code == 200, response.text
    webp = data_url(WEBP, "image/webp")
    assert sent_urls(stage) == [webp, data_url(JPEG, "image/jpeg"), data_url(PNG), webp]
    assert caller.only_call.state == "settled"
    sent = stage.upstream.ledger.entries[0].body["messages"]
    assert (sent[0], sent[1]["content"][0]) == (messages[0], messages[1]["content"][0])
    assert sent[1]["content"][1]["image_url"]["detail"] == "low"


def test_a_url_in_place_of_an_object_is_fetched_as_well(stage: Stage, host: ImageHost) -> None:
    host.pages["/a"] = answer(PNG)
    _, response = ask(stage, showing(host.url("/a"), plain=True))
    assert response.status_code == 200
    assert stage.upstream.ledger.entries[0].body["messages"][1]["content"][1]["image_url"] == data_url(PNG)


@pytest.mark.parametrize(
    ("served", "words"),
    [
        (answer(b"<html>"), "PNG"),
        (answer(b"", status="302 Found", headers="Location: https://other.example/\r\n"), "redirects"),
        (answer(b"", status="404 Not Found"), "404"),
        (answer(PNG, headers="Content-Encoding: br\r\n"), "compressed"),
        (answer(b"", length=12 * 1024 * 1024 + 1), "larger"),
    ],
    ids=["no image", "redirect", "status", "compressed", "too large"],
)
def test_a_url_without_an_image_is_rejected_before_anything_is_spent(
    stage: Stage, host: ImageHost, served: bytes, words: str
) -> None:
    host.pages["/good"], host.pages["/bad"] = answer(PNG), served
    caller, response = ask(stage, showing(host.url("/good"), host.url("/bad")))
    assert words in assert_rejected(stage, caller, response, part=2)


def test_a_name_of_a_private_address_is_rejected_without_a_connection(
    stage: Stage, host: ImageHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetched_images, "FETCHER", host.fetcher(allowed=lambda address: False))
    caller, response = ask(stage, showing(host.url("/a")))
    assert "no public address" in assert_rejected(stage, caller, response)
    assert host.requests == []


def test_images_are_bounded_together_as_well(stage: Stage, host: ImageHost) -> None:
    host.pages["/a"] = answer(PNG + b"\0" * 7 * 1024 * 1024)
    caller, response = ask(stage, showing(host.url("/a"), host.url("/a")))
    assert "together" in assert_rejected(stage, caller, response, part=2)


def until_it_leaves(connection: socket.socket) -> None:
    connection.recv(1)


def test_images_that_are_too_large_together_wait_for_no_other(stage: Stage, host: ImageHost) -> None:
    host.pages["/a"] = answer(PNG + b"\0" * 7 * 1024 * 1024)
    host.pages["/never"] = until_it_leaves
    caller, response = ask(stage, showing(host.url("/a"), host.url("/a"), host.url("/never")))
    assert "together" in assert_rejected(stage, caller, response, part=3)


def test_an_image_is_counted_before_the_others_have_come(stage: Stage, host: ImageHost, settings: Any) -> None:
    settings.LARGE_BODIES_MAX_BYTES = 300_000
    host.pages["/a"] = answer(PNG + b"\0" * 30_000)
    host.pages["/never"] = until_it_leaves
    caller, response = ask(stage, showing(*[host.url("/a")] * 4, host.url("/never")))
    assert (response.status_code, response.json()["error"]["code"]) == (503, "not_ready")
    assert caller.calls == []


def test_so_many_urls_are_too_many(stage: Stage, host: ImageHost) -> None:
    caller, response = ask(stage, showing(*[host.url("/a")] * 17))
    error = response.json()["error"]
    assert (response.status_code, error["param"]) == (400, "messages.1.content.17.image_url.url")
    assert (caller.calls, host.requests) == ([], [])


def test_nothing_is_fetched_for_a_call_that_is_refused_anyway(stage: Stage, host: ImageHost) -> None:
    host.pages["/a"] = answer(PNG)
    alias, caller = stage.model(context_tokens=CONTEXT), stage.caller()
    body = chat(alias, messages=showing(host.url("/a")))
    assert caller.post(body, max_cost=1).status_code == 402
    assert caller.post({**body, "n": 0}).status_code == 400
    unpriced = stage.model(context_tokens=CONTEXT, price=None)
    assert caller.post({**body, "model": unpriced}).status_code == 503
    assert host.requests == []


def test_a_repeated_request_gets_its_first_answer_though_its_image_is_gone(stage: Stage, host: ImageHost) -> None:
    host.pages["/a"] = answer(PNG)
    alias, caller = stage.model(context_tokens=CONTEXT, max_output_tokens=20), stage.caller()
    body = chat(alias, messages=showing(host.url("/a")))
    first = caller.post(body, key="again")
    host.pages["/a"] = answer(b"", status="404 Not Found")
    second = caller.post(body, key="again")
    assert (second.status_code, second.content) == (200, first.content)
    assert second.headers["Idempotent-Replayed"] == "true"
    assert len(stage.upstream.ledger) == 1


def test_an_upstream_that_fetches_for_itself_gets_the_url(stage: Stage, host: ImageHost) -> None:
    upstream = stage.upstream_row(fetches_images=True)
    _, response = ask(stage, showing("https://images.example/a.png", data_url(PNG)), upstream=upstream)
    assert response.status_code == 200
    assert sent_urls(stage) == ["https://images.example/a.png", data_url(PNG)]
    assert host.requests == []
    caller, response = ask(stage, showing("https://10.0.0.1/a.png"), upstream=upstream)
    stage.upstream.reset()
    assert_rejected(stage, caller, response)


def test_a_url_is_fetched_where_one_of_several_upstreams_does_not(stage: Stage, host: ImageHost) -> None:
    from inference.models import Alias, Deployment
    from inference.queries import catalogue

    host.pages["/a"] = answer(PNG)
    alias = stage.model(context_tokens=CONTEXT, upstream=stage.upstream_row(fetches_images=True))
    Deployment.objects.create(
        alias=Alias.objects.get(name=alias), upstream=stage.upstream_row(), model="small-1", priority=1
    )
    catalogue.forget()
    assert stage.caller().post(chat(alias, messages=showing(host.url("/a")))).status_code == 200
    assert sent_urls(stage) == [data_url(PNG)]


def test_a_body_may_be_larger_where_it_brings_images_along(stage: Stage) -> None:
    image = data_url(PNG + b"\0" * 8 * 1024 * 1024)
    _, response = ask(stage, showing(image))
    assert response.status_code == 200, response.text
    assert sent_urls(stage) == [image]
    _, response = ask(stage, [{"role": "user", "content": "x" * 10 * 1024 * 1024}])
    assert (response.status_code, response.json()["error"]["code"]) == (413, "request_too_large")
    _, response = ask(stage, showing(image, image))
    assert (response.status_code, response.json()["error"]["code"]) == (413, "request_too_large")
