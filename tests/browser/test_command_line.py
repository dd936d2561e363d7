"""A person signs in with `agw` in a browser, pays for a call from the terminal, and ends the session on the portal's page."""

import json
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from queue import Queue

import httpx
import pytest
from playwright.sync_api import expect

from account_gateway_client.cli import browser
from tests.browser.person import Person
from tests.clients.agw.command_line import CommandLine, Completed
from tests.support.concurrency import PATIENCE_SECONDS

CALL = {"model": "fast", "max_tokens": 20, "messages": [{"role": "user", "content": "Hello"}]}


@pytest.fixture
def agw(person: Person, tmp_path: Path) -> CommandLine:
    return CommandLine(person.gateway.base_url, tmp_path / "agw")


def begin(
    agw: CommandLine, threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, Future[Completed]]:
    """Start `agw login`; return the address that it opens, and how it will have ended."""
    addresses: Queue[str] = Queue()

    def open_page(url: str) -> bool:
        addresses.put(url)
        return True

    monkeypatch.setattr(browser, "open_page", open_page)
    ended = threads.submit(agw.run, "login", "--gateway", agw.gateway)
    return addresses.get(timeout=PATIENCE_SECONDS), ended


def test_a_person_signs_in_pays_and_ends_the_session(
    person: Person, agw: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = person.page
    with ThreadPoolExecutor(1) as threads:
        address, ended = begin(agw, threads, monkeypatch)
        page.goto(address)
        person.sign_up()
        expect(page.get_by_role("main")).to_contain_text("Command line (agw)")
        page.get_by_role("button", name="Allow").click()
        expect(page.get_by_role("heading", name="Back to the terminal")).to_be_visible()
        assert ended.result().status == 0
    did = agw.run("status", "--json").json["account"]["did"]
    welcome = httpx.post(
        f"{person.gateway.app_origin}/example/welcome-credit",
        json={"did": did},
        headers={"Origin": person.gateway.app_origin},
        timeout=PATIENCE_SECONDS,
    )
    assert welcome.status_code == 200
    paid = agw.run("request", "POST", "/v1/chat/completions", "-d", json.dumps(CALL), "--max-cost", "0.02")
    assert paid.status == 0, paid.err
    assert " cost $0.0000" in paid.err
    page.goto(f"{agw.gateway}/devices")
    page.get_by_role("button", name="Revoke").click()
    assert agw.run("wallet").status == 3


def test_a_person_refuses(person: Person, agw: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    person.sign_up_at_the_portal()
    with ThreadPoolExecutor(1) as threads:
        address, ended = begin(agw, threads, monkeypatch)
        person.page.goto(address)
        person.page.get_by_role("button", name="Cancel").click()
        expect(person.page.get_by_role("heading", name="Nothing was allowed")).to_be_visible()
        assert ended.result().status == 3
