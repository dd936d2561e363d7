"""Images in the input of a response: checked, and fetched where they are URLs, before anything is held."""

import base64
from typing import Any

from tests.factories.images import GIF, JPEG, PNG
from tests.inference.routes.test_responses import READ, respond
from tests.support.image_host import ImageHost, answer
from tests.support.stage import RESPONSES, Caller, Stage
from tests.support.stage import ask as request

CONTEXT = 3000


def data_url(data: bytes, label: str = "image/png") -> str:
    return f"data:{label};base64,{base64.b64encode(data).decode()}"


def showing(*urls: Any) -> list[Any]:
    parts = [{"type": "input_image", "image_url": url, "detail": "low"} for url in urls]
    return [{"role": "user", "content": [{"type": "input_text", "text": "see"}, *parts]}]


def ask(stage: Stage, items: list[Any], **fields: Any) -> tuple[Caller, Any, str]:
    alias = stage.model(max_output_tokens=20, context_tokens=CONTEXT, **fields)
    caller = stage.caller(scopes=READ)
    return caller, respond(caller, request(alias, input=items)), alias


def sent_urls(stage: Stage) -> list[str]:
    parts = [part for item in stage.upstream.ledger.entries[-1].body["input"] for part in item["content"]]
    return [part["image_url"] for part in parts if part["type"] == "input_image"]


def test_a_url_is_fetched_and_its_image_goes_upstream(stage: Stage, host: ImageHost) -> None:
    host.pages["/a"] = answer(JPEG)
    _, response, _ = ask(stage, showing(host.url("/a"), data_url(GIF, "image/gif")))
    assert response.status_code == 200, response.text
    assert sent_urls(stage) == [data_url(JPEG, "image/jpeg"), data_url(GIF, "image/gif")]


def test_an_image_with_the_label_of_another_type_goes_upstream_under_its_own(stage: Stage) -> None:
    _, response, _ = ask(stage, showing(data_url(JPEG, "image/png")))
    assert response.status_code == 200
    assert sent_urls(stage) == [data_url(JPEG, "image/jpeg")]


def test_an_image_in_the_output_of_a_function_is_fetched_as_well(stage: Stage, host: ImageHost) -> None:
    host.pages["/a"] = answer(PNG)
    output = [{"type": "input_image", "image_url": host.url("/a")}]
    _, response, _ = ask(stage, [{"type": "function_call_output", "call_id": "call_1", "output": output}])
    assert response.status_code == 200, response.text
    assert stage.upstream.ledger.entries[-1].body["input"][0]["output"][0]["image_url"] == data_url(PNG)


def test_it_is_stored_by_its_url_and_fetched_again_where_the_conversation_goes_on(
    stage: Stage, host: ImageHost
) -> None:
    host.pages["/a"] = answer(PNG)
    caller, first, alias = ask(stage, showing(host.url("/a")))
    items = caller.get(f"{RESPONSES}/{first.json()['id']}/input_items").json()["data"]
    assert items[0]["content"][1]["image_url"] == host.url("/a")
    goes_on = request(alias, input="And?", previous_response_id=first.json()["id"])
    assert respond(caller, goes_on).status_code == 200
    assert sent_urls(stage) == [data_url(PNG)]
    host.pages["/a"] = answer(b"gone", status="404 Not Found")
    refused = respond(caller, goes_on)
    error = refused.json()["error"]
    assert (refused.status_code, error["code"], error["param"]) == (400, "image_rejected", "previous_response_id")
    assert len(caller.calls) == 2


def test_a_url_without_an_image_is_rejected_before_anything_is_spent(stage: Stage, host: ImageHost) -> None:
    for page in (answer(b"<html>"), answer(PNG, status="404 Not Found"), answer(b"", status="302 Found")):
        host.pages["/a"] = page
        caller, refused, _ = ask(stage, showing(host.url("/a")))
        error = refused.json()["error"]
        assert (refused.status_code, error["code"]) == (400, "image_rejected")
        assert error["param"] == "input.0.content.1.image_url"
        assert caller.calls == []
    assert len(stage.upstream.ledger) == 0


def test_an_upstream_that_fetches_for_itself_gets_the_url(stage: Stage, host: ImageHost) -> None:
    _, response, _ = ask(stage, showing(host.url("/a")), upstream=stage.upstream_row(fetches_images=True))
    assert response.status_code == 200
    assert sent_urls(stage) == [host.url("/a")]
    assert host.requests == []


def test_a_body_may_be_larger_where_it_brings_images_along(stage: Stage) -> None:
    large = data_url(PNG + b"\0" * 8_000_000)
    assert ask(stage, showing(large))[1].status_code == 200
    _, refused, _ = ask(stage, [{"role": "user", "content": "x" * 10_600_000}])
    assert (refused.status_code, refused.json()["error"]["code"]) == (413, "request_too_large")
