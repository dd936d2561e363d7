"""The browser quickstart does what it says: its page as it stands, in a real browser."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect

from tests.browser.app_gateway import AppGateway
from tests.browser.person import Person
from tests.support.pages import Page, Reader

PAGE = Page("docs/quickstarts/browser.md")
CLIENT = Path(__file__).resolve().parents[2] / "clients" / "js" / "src"
DOCUMENTED_PORT = "5173"


@pytest.fixture(scope="module")
def served(gateway: AppGateway, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the page as a reader does, and return its address."""
    folder = tmp_path_factory.mktemp("page")
    reader = Reader(PAGE, folder, gateway, replaced={DOCUMENTED_PORT: str(gateway.reader_port)})
    shutil.copytree(CLIENT, folder / "client")
    reader.save_files()
    with reader.serving(PAGE.code("sh", after="Serve it"), gateway.reader_port):
        yield f"http://127.0.0.1:{gateway.reader_port}/"


def test_a_person_signs_in_asks_and_signs_out(served: str, person: Person, gateway: AppGateway) -> None:
    page = person.page
    page.goto(served)
    page.get_by_role("button", name="Sign in").click()
    person.sign_up()
    page.get_by_role("button", name="Allow").click()
    person.window.expect(r"status of 402 .*/v1/chat/completions")
    page.get_by_role("button", name="Ask").click()
    expect(page.locator("#answer")).to_have_text("Your wallet is empty.")
    did = page.evaluate(
        """async (url) => {
            const { Gateway } = await import("account-gateway-client");
            return (await new Gateway({ url }).account()).did;
        }""",
        gateway.base_url,
    )
    credit = f"{gateway.app_origin}/example/welcome-credit"
    httpx.post(credit, json={"did": did}, headers={"Origin": gateway.app_origin}, timeout=60).raise_for_status()
    page.get_by_role("button", name="Ask").click()
    expect(page.locator("#cost")).to_have_text(re.compile(r"^That cost [1-9]\d* of \d+ millionths of a dollar\.$"))
    expect(page.locator("#answer")).to_contain_text("You wrote “Hello”.")
    page.reload()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
