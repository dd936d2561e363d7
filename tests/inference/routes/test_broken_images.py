"""Images that begin like one and are none: refused on every route that takes images, with nothing held or sent."""

import base64
from collections.abc import Callable
from typing import Any

import pytest

from tests.factories.images import FIRST_BYTES, IMAGES
from tests.judgement.bench import JUDGEMENT, Bench
from tests.judgement.bench import ask as ask_judge
from tests.support.image_host import ImageHost, answer
from tests.support.stage import CHAT, EMBEDDINGS, MESSAGE, MESSAGES, RESPONSES, Stage, message

SCOPES = ("infer:*", "judgement:evaluate")


def _chat(url: str) -> Any:
    return {"messages": [*MESSAGES, {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}]}


def _response(url: str) -> Any:
    return {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": url}]}], "store": False}


def _message(url: str) -> Any:
    head, _, data = url.partition(";base64,")
    source = (
        {"type": "base64", "media_type": head.removeprefix("data:"), "data": data}
        if data
        else {"type": "url", "url": url}
    )
    return message("", messages=[*MESSAGES, {"role": "user", "content": [{"type": "image", "source": source}]}])


def _embedding(url: str) -> Any:
    return {"input": [{"type": "image_url", "image_url": {"url": url}}]}


def _judgement(url: str) -> Any:
    return ask_judge(images=[url])


ROUTES: dict[str, tuple[Callable[[str], Any], str, dict[str, Any]]] = {
    CHAT: (_chat, "messages.1.content.0.image_url.url", {}),
    RESPONSES: (_response, "input.0.content.0.image_url", {}),
    MESSAGE: (_message, "messages.1.content.0.source", {}),
    EMBEDDINGS: (_embedding, "input.0.image_url.url", {"routes": ["embeddings"], "revision": "r1", "dimensions": 8}),
    JUDGEMENT: (_judgement, "images.0", {"routes": ["judgement"]}),
}
ADAPTERS = {MESSAGE: "anthropic", EMBEDDINGS: "representation", JUDGEMENT: "judgement"}


def cut_at(media_type: str) -> list[bytes]:
    """Return an image cut at each byte of its first structure but its first, where its signature is whole."""
    return [IMAGES[media_type][:end] for end in range(12, FIRST_BYTES[media_type])]


def data_url(media_type: str, data: bytes) -> str:
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"


def model_of(stage: Stage, path: str) -> str:
    upstream = stage.upstream_row(adapter=ADAPTERS.get(path, "openai"))
    name = stage.model(upstream=upstream, options=ROUTES[path][2], context_tokens=3000, max_output_tokens=16)
    if path == JUDGEMENT:
        Bench(stage, None).choose(vision=name)  # type: ignore[arg-type]
    return name


def assert_rejected(response: Any, param: str) -> None:
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["param"]) == (400, "image_rejected", param), response.text


@pytest.mark.parametrize("media_type", IMAGES)
@pytest.mark.parametrize("path", ROUTES)
def test_an_image_cut_at_any_byte_of_its_first_structure(stage: Stage, path: str, media_type: str) -> None:
    make, param, _ = ROUTES[path]
    name, caller = model_of(stage, path), stage.caller(scopes=SCOPES)
    for data in cut_at(media_type)[:: 1 if path == CHAT else 8]:
        response = caller.post({**make(data_url(media_type, data)), "model": name}, path=path)
        assert_rejected(response, param)
    assert (caller.calls, len(stage.upstream.ledger)) == ([], 0)
    assert caller.wallet == {"balance": 1_000_000, "held": 0, "debt": 0}


@pytest.mark.parametrize("path", ROUTES)
def test_a_fetched_page_that_is_only_a_signature(stage: Stage, host: ImageHost, path: str) -> None:
    make, param, _ = ROUTES[path]
    host.pages["/a"] = answer(IMAGES["image/png"][:8])
    name, caller = model_of(stage, path), stage.caller(scopes=SCOPES)
    assert_rejected(caller.post({**make(host.url("/a")), "model": name}, path=path), param)
    assert (caller.calls, len(stage.upstream.ledger)) == ([], 0)
