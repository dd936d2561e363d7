"""Documents in messages: text counts as text, and PDF files have a bounded size and number of pages."""

import base64
from typing import Any

import httpx
import pytest

from inference.routes.messages import documents
from tests.factories.images import PNG
from tests.factories.pdfs import pdf
from tests.support.image_host import ImageHost, answer
from tests.support.stage import MESSAGE, Caller, Stage, message

PDF = pdf(2)
PLACE = "messages.0.content.0"
QUESTION = {"type": "text", "text": "What do they eat?"}
TEXT = {"type": "text", "media_type": "text/plain", "data": "Badgers eat worms."}
CONTEXT = 5_000
ADAPTERS = ("anthropic", "openai")


def base64_of(data: bytes, media_type: str = "application/pdf") -> dict[str, str]:
    return {"type": "base64", "media_type": media_type, "data": base64.b64encode(data).decode()}


def said(*sources: Any, **members: Any) -> dict[str, Any]:
    """Return the member `messages` with a document of each source."""
    blocks = [{"type": "document", "source": source, **members} for source in sources]
    return {"messages": [{"role": "user", "content": [*blocks, QUESTION]}]}


def model_of(stage: Stage, adapter: str = "anthropic", **fields: Any) -> str:
    return stage.model(upstream=stage.upstream_row(adapter=adapter), max_output_tokens=20, **fields)


def send(caller: Caller, alias: str, members: dict[str, Any], **options: Any) -> httpx.Response:
    return caller.post(message(alias, **members), path=MESSAGE, **options)


def assert_refused(stage: Stage, caller: Caller, refused: httpx.Response, param: str) -> None:
    error = refused.json()["error"]
    assert (refused.status_code, error["code"], error["param"]) == (400, "invalid_request", param), refused.text
    assert (caller.calls, len(stage.upstream.ledger)) == ([], 0)
    assert caller.wallet == {"balance": 1_000_000, "held": 0, "debt": 0}


def sent(stage: Stage) -> Any:
    [entry] = stage.upstream.ledger.entries
    return entry.body["messages"][0]["content"]


@pytest.mark.parametrize(
    "source",
    [TEXT, {"type": "content", "content": "Badgers."}, {"type": "content", "content": [QUESTION, QUESTION]}],
    ids=["text", "content", "blocks"],
)
def test_a_text_is_held_by_its_bytes_like_any_other(stage: Stage, source: Any) -> None:
    alias, caller = model_of(stage, price={"input_token": "1", "output_token": "1"}), stage.caller()
    assert send(caller, alias, said(source, title="Badgers")).status_code == 200
    assert 100 < caller.only_call.hold_microusd < 600
    assert sent(stage)[0] == {"type": "document", "source": source, "title": "Badgers"}


@pytest.mark.parametrize("source", [TEXT, {"type": "content", "content": TEXT["data"]}], ids=["text", "content"])
def test_a_text_is_translated(stage: Stage, source: Any) -> None:
    alias, caller = model_of(stage, "openai"), stage.caller()
    assert send(caller, alias, said(source, title="Badgers")).status_code == 200
    assert sent(stage)[0] == {"type": "text", "text": f"Badgers\n\n{TEXT['data']}"}


unbounded = pytest.mark.parametrize(
    "members", [said(base64_of(PDF)), said(TEXT, citations={"enabled": True})], ids=["pdf", "citations"]
)


@unbounded
def test_what_its_bytes_do_not_bound_is_held_by_the_models_context(stage: Stage, members: Any) -> None:
    price = {"input_token": "1", "output_token": "1"}
    alias, caller = model_of(stage, price=price, context_tokens=CONTEXT), stage.caller()
    assert send(caller, alias, members).status_code == 200
    assert caller.only_call.hold_microusd == CONTEXT + 20


@unbounded
def test_without_a_known_context_it_is_refused(stage: Stage, members: Any) -> None:
    alias, caller = model_of(stage), stage.caller()
    assert_refused(stage, caller, send(caller, alias, members), PLACE)


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_pdf_is_sent_on(stage: Stage, adapter: str) -> None:
    alias, caller = model_of(stage, adapter, context_tokens=CONTEXT), stage.caller()
    source = base64_of(PDF)
    assert send(caller, alias, said(source)).status_code == 200
    [part, _] = sent(stage)
    if adapter == "anthropic":
        assert part == {"type": "document", "source": source}
    else:
        assert part["file"]["file_data"] == f"data:application/pdf;base64,{source['data']}"


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("options", [{}, {"fetches_images": True}], ids=["plain", "fetching upstream"])
def test_a_url_is_fetched_by_the_gateway_alone(stage: Stage, host: ImageHost, adapter: str, options: Any) -> None:
    host.pages["/a.pdf"] = answer(PDF)
    alias, caller = model_of(stage, adapter, context_tokens=CONTEXT, options=options), stage.caller()
    members = said({"type": "url", "url": host.url("/a.pdf")})
    first = send(caller, alias, members, key="same")
    assert first.status_code == 200, first.text
    assert len(host.requests) == 1
    assert "accept: application/pdf" in host.requests[0].lower()
    [part, _] = sent(stage)
    data = base64_of(PDF)["data"]
    assert (part["source"]["data"] if adapter == "anthropic" else part["file"]["file_data"]).endswith(data)
    assert send(caller, alias, members, key="same").headers["idempotent-replayed"] == "true"
    assert len(host.requests) == 1


def test_documents_and_images_are_found_wherever_they_are(stage: Stage, host: ImageHost) -> None:
    host.pages |= {"/a.pdf": answer(PDF), "/a.png": answer(PNG)}
    image = {"type": "image", "source": {"type": "url", "url": host.url("/a.png")}}
    inner = {"type": "document", "source": {"type": "content", "content": [QUESTION, image]}}
    file = {"type": "document", "source": {"type": "url", "url": host.url("/a.pdf")}}
    called = [{"type": "tool_use", "id": "t1", "name": "look", "input": {}}]
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [file, inner]}
    messages = [{"role": "assistant", "content": called}, {"role": "user", "content": [inner, result]}]
    alias, caller = model_of(stage, context_tokens=CONTEXT), stage.caller()
    assert send(caller, alias, {"messages": messages}).status_code == 200
    [entry] = stage.upstream.ledger.entries
    [first, second] = entry.body["messages"][1]["content"]
    png, fetched = base64_of(PNG, "image/png"), base64_of(PDF)
    assert first["source"]["content"] == [QUESTION, {"type": "image", "source": png}]
    assert second["content"][0]["source"] == fetched
    assert second["content"][1] == first


@pytest.mark.parametrize(
    ("source", "param"),
    [
        ({"type": "file", "file_id": "f"}, "source.file_id"),
        ({"type": "new"}, "source.type"),
        ({"type": ["url"]}, "source.type"),
        ({"type": "text", "data": 7}, "source"),
        ({"type": "content", "content": 7}, "source"),
        ({"type": "content", "content": ["a"]}, "source.content.0"),
        ({"type": "content", "content": [{"type": "document"}]}, "source.content.0.type"),
        ({"type": "url", "url": 7}, "source"),
        ({"type": "url", "url": "http://a.example/a.pdf"}, "source"),
        ({"type": "url", "url": "https://127.0.0.1/a.pdf"}, "source"),
        (base64_of(PDF, "text/html"), "source.media_type"),
        ({**base64_of(PDF), "data": "%%%"}, "source.data"),
        ({**base64_of(PDF), "data": "\u00e9"}, "source.data"),
        (base64_of(b"<html>"), "source"),
        (base64_of(pdf(101)), "source"),
        (base64_of(PDF[:-200]), "source"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_document_that_cannot_be_used_is_named(stage: Stage, source: Any, param: str) -> None:
    alias, caller = model_of(stage, context_tokens=CONTEXT), stage.caller()
    assert_refused(stage, caller, send(caller, alias, said(source)), f"{PLACE}.{param}")


def test_the_pages_of_all_documents_count_together(stage: Stage) -> None:
    alias, caller = model_of(stage, context_tokens=CONTEXT), stage.caller()
    half = base64_of(pdf(50))
    refused = send(caller, alias, said(half, half, base64_of(pdf())), key="one")
    assert_refused(stage, caller, refused, "messages.0.content.2.source")
    assert send(caller, alias, said(half, half), key="one").status_code == 200  # the key is free


def test_only_so_many_files_and_bytes_are_taken(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    alias, caller = model_of(stage, context_tokens=CONTEXT), stage.caller()
    refused = send(caller, alias, said(*[base64_of(PDF)] * 17))
    assert_refused(stage, caller, refused, "messages.0.content.16.source")
    monkeypatch.setattr(documents, "DOCUMENT_MAX_BYTES", len(PDF) - 1)
    assert_refused(stage, caller, send(caller, alias, said(base64_of(PDF))), f"{PLACE}.source")


@pytest.mark.parametrize("page", [b"<html>", pdf(101), PDF[:-200]], ids=["page", "too long", "cut"])
def test_what_is_fetched_and_cannot_be_used_is_named(stage: Stage, host: ImageHost, page: bytes) -> None:
    host.pages["/a.pdf"] = answer(page)
    alias, caller = model_of(stage, context_tokens=CONTEXT), stage.caller()
    members = said({"type": "url", "url": host.url("/a.pdf")})
    assert_refused(stage, caller, send(caller, alias, members), f"{PLACE}.source")


@pytest.mark.parametrize("page", [answer(b"", status="404 Not Found"), answer(b"", status="302 Found")])
def test_what_cannot_be_fetched_is_named(stage: Stage, host: ImageHost, page: bytes) -> None:
    host.pages["/a.pdf"] = page
    alias, caller = model_of(stage, context_tokens=CONTEXT), stage.caller()
    members = said({"type": "url", "url": host.url("/a.pdf")})
    assert_refused(stage, caller, send(caller, alias, members), f"{PLACE}.source")


def test_nothing_is_fetched_or_read_without_money(stage: Stage, host: ImageHost) -> None:
    host.pages["/a.pdf"] = answer(PDF)
    alias, caller = model_of(stage, context_tokens=CONTEXT), stage.caller(balance=0)
    refused = send(caller, alias, said({"type": "url", "url": host.url("/a.pdf")}, base64_of(pdf(101))))
    assert (refused.status_code, refused.json()["error"]["code"]) == (402, "insufficient_funds")
    assert host.requests == []


def test_a_body_with_a_large_file_may_be_as_large_as_one_with_a_large_image(stage: Stage) -> None:
    alias, caller = model_of(stage, context_tokens=CONTEXT), stage.caller()
    source = base64_of(PDF.replace(b"%%EOF", b"%%EOF\n%" + b"x" * 8_000_000))
    assert len(source["data"]) > 10 * 1024 * 1024
    refused = send(caller, alias, {"messages": [{"role": "user", "content": source["data"]}]})
    assert (refused.status_code, refused.json()["error"]["code"]) == (413, "request_too_large")
    assert send(caller, alias, said(source)).status_code != 413
