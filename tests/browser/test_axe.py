"""axe looks at the console's main pages, in light and dark, and finds nothing that hinders anybody."""

import re
from collections.abc import Iterator

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.browser.app_gateway import AppGateway
from tests.browser.person import Person
from tests.browser.test_console import sign_in

GRAVE = ("serious", "critical")
MAIN = "landmark-one-main"
"""A moderate finding that is held as well: whoever hears a page jumps to its content by this."""


def test_the_main_pages(person: Person, gateway: AppGateway) -> None:
    person.enter_the_app()
    person.ask()  # a paid call, so that there is something to show
    person.page.context.clear_cookies()
    page = person.page
    sign_in(page, gateway)
    found = []
    for address in (f"{gateway.base_url}/admin/", *_addresses(page, f"{gateway.base_url}/admin", person.email)):
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.goto(address)
            found += [f"{scheme} {address}: {each}" for each in _findings(page, scheme)]
    assert found == []


def _addresses(page: Page, console: str, email: str) -> Iterator[str]:
    """Return one page of each kind; those of rows are followed from their lists."""
    yield f"{console}/search/?s=nobody@example.com"
    yield f"{console}/inference/alias/new/"
    for table, search in (("billing/call", ""), ("inference/alias", "fast")):
        page.goto(f"{console}/{table}/?q={search}")
        page.locator("#result_list tbody a").first.click()
        page.wait_for_url(re.compile(f"/{table}/.+/change/"))
        yield page.url
    yield f"{console}/billing/call/"
    page.goto(f"{console}/search/?s={email}")
    page.wait_for_url(re.compile(r"/customers/account/\d+/"))
    yield page.url


def _findings(page: Page, scheme: str) -> list[str]:
    """Return what axe finds. The page is the same in the dark, but for its colours."""
    options = {"resultTypes": ["violations"]}
    if scheme == "dark":
        options["runOnly"] = ["color-contrast"]
    found = Axe().run(page, options=options).response["violations"]
    return [
        f"{each['id']} ({each['impact']}) {node['target']} {node['html'][:200]}"
        for each in found
        if each["impact"] in GRAVE or each["id"] == MAIN
        for node in each["nodes"]
    ]
