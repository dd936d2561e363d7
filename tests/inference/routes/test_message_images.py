"""Images of a message, in its blocks and in results of tools: checked, and fetched where they are URLs, before anything is held."""

import base64
from typing import Any

import httpx
import pytest

from inference.adapters import fetched_images
from tests.factories.images import GIF, JPEG, PNG, WEBP
from tests.inference.routes.test_messages import FORMS, PATH, model_of, send
from tests.support.image_host import ImageHost, answer
from tests.support.stage import Caller, Stage

CONTEXT = 3000
USE = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}
OF_BLOCK, OF_RESULT = "messages.0.content.1.source", "messages.2.content.0.content.1.source"


def image(source: Any) -> dict[str, Any]:
    return {"type": "image", "source": source}


def data(content: bytes, media_type: str = "image/png") -> dict[str, str]:
    return {"type": "base64", "media_type": media_type, "data": base64.b64encode(content).decode()}


def url(address: str) -> dict[str, str]:
    return {"type": "url", "url": address}


def showing(*sources: Any, of_result: Any = None) -> list[dict[str, Any]]:
    """Build messages with images after a text, and one in a tool's result."""
    see = {"type": "text", "text": "see"}
    messages: list[dict[str, Any]] = [{"role": "user", "content": [see, *map(image, sources)]}]
    if of_result is None:
        return messages
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [see, image(of_result)]}
    return [*messages, {"role": "assistant", "content": [USE]}, {"role": "user", "content": [result]}]


def ask(stage: Stage, messages: list[Any], form: str = "anthropic", **fields: Any) -> tuple[Caller, httpx.Response]:
    alias, caller = model_of(stage, form, context_tokens=CONTEXT, **fields), stage.caller()
    return caller, send(caller, alias, messages=messages, max_tokens=20)


def assert_rejected(stage: Stage, caller: Caller, response: httpx.Response, param: str) -> None:
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["param"]) == (400, "image_rejected", param)
    assert (error["type"], caller.calls, len(stage.upstream.ledger)) == ("invalid_request_error", [], 0)


def test_images_pass_under_their_own_type(stage: Stage) -> None:
    messages = showing(data(PNG), data(JPEG), data(WEBP, "image/gif"), of_result=data(GIF))
    caller, response = ask(stage, messages)
    assert response.status_code == 200, response.text
    sent = stage.upstream.ledger.entries[0].body["messages"]
    assert sent == showing(
        data(PNG), data(JPEG, "image/jpeg"), data(WEBP, "image/webp"), of_result=data(GIF, "image/gif")
    )
    assert caller.only_call.hold_microusd == -(-(CONTEXT * 375 + 20 * 1500) // 100)


@pytest.mark.parametrize("form", FORMS)
def test_a_url_is_fetched_and_its_image_goes_upstream(stage: Stage, host: ImageHost, form: str) -> None:
    host.pages["/a"] = answer(WEBP, headers="Content-Type: text/plain\r\n")
    caller, response = ask(stage, showing(url(host.url("/a")), data(PNG)), form)
    assert response.status_code == 200, response.text
    body = stage.upstream.ledger.entries[0].body
    webp = f"data:image/webp;base64,{data(WEBP)['data']}"
    match form:
        case "anthropic":
            assert body["messages"] == showing(data(WEBP, "image/webp"), data(PNG))
        case "chat":
            assert body["messages"][0]["content"][1] == {"type": "image_url", "image_url": {"url": webp}}
        case _:
            assert body["input"][0]["content"][1]["image_url"] == webp
    assert caller.only_call.state == "settled"


def test_a_url_in_a_tools_result_is_fetched(stage: Stage, host: ImageHost) -> None:
    host.pages["/a"] = answer(PNG)
    _, response = ask(stage, showing(url(host.url("/a")), of_result=url(host.url("/a"))))
    assert response.status_code == 200, response.text
    assert stage.upstream.ledger.entries[0].body["messages"] == showing(data(PNG), of_result=data(PNG))


@pytest.mark.parametrize(
    "source",
    [
        data(b"<html>"),
        data(b"BM" + b"\0" * 40),
        data(b"\x89PNG\r\n\x1a"),
        {**data(PNG), "data": "not base64!"},
        {**data(PNG), "data": ""},
        {**data(PNG), "media_type": "image/png;base64,AAAA"},
        {**data(PNG), "media_type": None},
        *map(
            url,
            (
                *("http://images.example/a.png", "ftp://images.example/a.png", "file:///etc/passwd", ""),
                *("https://127.0.0.1/a.png", "https://[::ffff:10.0.0.1]/a.png", "https://0x7f.1/a.png"),
                *("https://user:pw@images.example/a.png", "data:text/html;base64,AAAA", "https://x\r\ny/a.png"),
            ),
        ),
    ],
)
def test_what_is_no_image_is_rejected_before_anything_is_spent(stage: Stage, source: Any) -> None:
    alias, caller = model_of(stage, "anthropic", context_tokens=CONTEXT), stage.caller()
    for messages, param in ((showing(source), OF_BLOCK), (showing(data(PNG), of_result=source), OF_RESULT)):
        assert_rejected(stage, caller, send(caller, alias, messages=messages), param)


def test_a_name_of_a_private_address_is_rejected_without_a_connection(
    stage: Stage, host: ImageHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetched_images, "FETCHER", host.fetcher(allowed=lambda address: False))
    caller, response = ask(stage, showing(data(PNG), of_result=url(host.url("/a"))))
    assert_rejected(stage, caller, response, OF_RESULT)
    assert host.requests == []


def test_so_many_urls_are_too_many(stage: Stage, host: ImageHost) -> None:
    caller, response = ask(stage, showing(*[url(host.url("/a"))] * 17))
    assert (response.status_code, response.json()["error"]["param"]) == (400, "messages.0.content.17.source")
    assert (caller.calls, host.requests) == ([], [])


def test_an_image_needs_a_context(stage: Stage) -> None:
    alias, caller = model_of(stage, "anthropic"), stage.caller()
    answer = send(caller, alias, messages=showing(data(PNG)))
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "messages.0.content.1")


def test_a_count_fetches_nothing(stage: Stage, host: ImageHost) -> None:
    alias, caller = model_of(stage, "anthropic", context_tokens=CONTEXT), stage.caller()
    for sources, counted in (([url(host.url("/a"))], CONTEXT), ([url("https://127.0.0.1/a.png")], None)):
        body = {"model": alias, "messages": showing(*sources)}
        answer = caller.post(body, path=f"{PATH}/count_tokens", key=None, max_cost=None)
        assert answer.json().get("input_tokens") == counted
    assert (host.requests, stage.upstream.ledger.entries) == ([], [])
