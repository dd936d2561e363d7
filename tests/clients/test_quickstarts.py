"""The quickstarts in Python do what they say: each page's files are saved and its commands run as they stand."""

import asyncio
import json
import re
import shlex
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.test import RequestFactory

from gateway.run.ports import free_port
from tests.support.concurrency import eventually
from tests.support.delivered_events import sent_test_event
from tests.support.demo_gateway import DemoGateway
from tests.support.pages import Page, Reader
from tests.support.signed_events import OTHER_SECRET, SECRET, answers_of, assert_verified

DEMO = "This is the gateway's demo backend"
DELIVERED = "test.ping {'endpoint': 'studio'}"
PENNILESS = "did:web:demo.studio.example:nobody"
RECEIPT = r"Receipt\(usage_id='use_[0-9a-z]{26}', hold_microusd=\d+, charge_microusd=[1-9]\d*, replayed=False\)"
PAGES = ("django", "events-fastapi", "fastapi", "langchain", "llamaindex", "openai-agents")
OF_ANOTHER_SDK = "llama-index-llms-openai-like"


def page(name: str) -> Page:
    return Page(f"docs/quickstarts/{name}.md")


def commands(name: str) -> list[str]:
    """Return the shell's blocks after the one that installs."""
    installing, *others = page(name).blocks("sh")
    assert "pip install" in installing.code
    return [block.code for block in others]


@pytest.mark.parametrize("name", PAGES)
def test_what_a_page_installs_is_what_its_code_was_run_with(name: str) -> None:
    [line] = [line for line in page(name).code("sh").splitlines() if line.startswith("pip install")]
    client, *others = shlex.split(line)[2:]
    assert re.fullmatch(r"\./clients/python(\[(openai|openai,anthropic)])?", client)
    for other in others:
        if not other.startswith(("openai<", OF_ANOTHER_SDK)):
            assert version(other)


def test_fastapi_streams_an_answer(demo_gateway: DemoGateway, tmp_path: Path) -> None:
    port = free_port()
    reader = Reader(page("fastapi"), tmp_path, demo_gateway, {"8001": str(port)})
    reader.save_files()
    serve, ask = commands("fastapi")
    with reader.serving(serve, port):
        assert DEMO in reader.run(ask)
    assert re.search(rf"^did:web:demo\.studio\.example:alice {RECEIPT}$", reader.log, re.MULTILINE)


def test_django_answers_at_once_and_streams(demo_gateway: DemoGateway, tmp_path: Path) -> None:
    port = free_port()
    reader = Reader(page("django"), tmp_path, demo_gateway, {"8001": str(port)})
    start, serve, ask = commands("django")
    reader.run(start)
    reader.save_files()
    with reader.serving(serve, port):
        printed = reader.run(ask)
    assert printed.count(DEMO) == 2
    assert re.search(r'"cost_microusd": [1-9]', printed)


@pytest.fixture
def saved(
    request: pytest.FixtureRequest, demo_gateway: DemoGateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Any]:
    """Import a module of a page, such as `django:shop.views`, in the tests' own process."""
    name, _, module = request.param.partition(":")
    reader = Reader(page(name), tmp_path, demo_gateway)
    reader.save_files()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("GATEWAY_URL", demo_gateway.base_url)
    known = set(sys.modules)
    yield import_module(module)
    for imported in set(sys.modules) - known:
        if str(tmp_path) in str(getattr(sys.modules[imported], "__file__", "")):
            del sys.modules[imported]


@pytest.mark.parametrize("saved", ["fastapi:app"], indirect=True)
async def test_fastapi_passes_a_refusal_on(saved: Any) -> None:
    saved.app.dependency_overrides[saved.person] = lambda: PENNILESS
    transport = httpx.ASGITransport(saved.app)
    async with saved.client_of(PENNILESS), httpx.AsyncClient(transport=transport, base_url="http://app") as browser:
        refused = await browser.post("/ask", json={"text": "Hello"})
    assert (refused.status_code, refused.json()["code"]) == (402, "insufficient_funds")


@pytest.mark.parametrize("saved", ["django:shop.views"], indirect=True)
async def test_django_passes_a_refusal_on(saved: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved, "person", lambda request: PENNILESS)
    asked = RequestFactory().get("/ask")
    with saved.client_of(PENNILESS):
        at_once = await asyncio.to_thread(saved.ask, asked)
    async with saved.async_client_of(PENNILESS):
        streamed = await saved.stream(asked)
    for refused in (at_once, streamed):
        assert (refused.status_code, json.loads(refused.content)["code"]) == (402, "insufficient_funds")


@pytest.mark.parametrize(
    ("name", "answers", "receipts"), [("langchain", 5, 6), ("openai-agents", 1, 0)], ids=["langchain", "openai-agents"]
)
def test_a_program(name: str, answers: int, receipts: int, demo_gateway: DemoGateway, tmp_path: Path) -> None:
    reader = Reader(page(name), tmp_path, demo_gateway)
    reader.save_files()
    printed = "".join(reader.run(command) for command in commands(name))
    assert printed.count(DEMO) == answers
    assert len(re.findall(RECEIPT, printed)) == receipts
    if name == "openai-agents":
        assert re.search(r"^\d+ calls, [1-9]\d* micro-USD$", printed, re.MULTILINE)


def test_fastapi_verifies_events(tmp_path: Path, demo_gateway: DemoGateway) -> None:
    port = free_port()
    secret, serve, send = commands("events-fastapi")
    settings = {"STUDIO_EVENTS_SECRET": f"{SECRET} {OTHER_SECRET}"}
    reader = Reader(page("events-fastapi"), tmp_path, demo_gateway, {"8001": str(port)}, settings)
    reader.save_files()
    assert re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=", reader.run(f"{secret}\nprintf %s $STUDIO_EVENTS_SECRET"))
    with reader.serving(serve, port):
        for given in (SECRET, OTHER_SECRET):
            reader.run(send, STUDIO_EVENTS_SECRET=given)  # the second time it is known
        answers = answers_of(f"http://localhost:{port}/hooks")
        with sent_test_event(reader):
            eventually(lambda: DELIVERED in reader.log)
    *printed, delivered = [line for line in reader.log.splitlines() if not line.startswith("INFO")]
    assert_verified(answers, printed)
    assert delivered == DELIVERED
