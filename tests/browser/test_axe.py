"""axe looks at the console's and the portal's pages, in light, in dark and on a phone, and finds nothing."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import axe_playwright_python
from playwright.sync_api import Page

from tests.browser.app_gateway import AppGateway
from tests.browser.person import Person
from tests.browser.test_console import DESK, PHONE, sign_in
from tests.browser.test_looks import INSIDE

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
# What axe finds on the page that is open, one line for each element.
FIND = """(options) => axe.run(options).then(({ violations }) => violations.flatMap(({ id, impact, nodes }) =>
  nodes.map(({ target, html }) => `${id} (${impact}) ${target} ${html.slice(0, 200)}`)))"""
PLAIN = (
    "billing/priceversion/add/",
    "accounts/product/add/",
    "accounts/integration/add/",
    "inference/alias/new/",
    "inference/upstream/add/",
    "billing/creditlot/add/",
    "billing/marginday/",
    "billing/loss/",
    "telemetry/requesttrace/",
    "jobs/jobrun/",
    "search/?s=nobody@example.com",
    "configuration/",
)
"""Pages whose address is known; `loss` is an empty list."""
FORMS = (
    "accounts/account/add/",
    "accounts/appearanceproduct/add/",
    "accounts/publicclient/add/",
    "auth/group/add/",
    "billing/limit/add/",
    "events/endpoint/add/",
    "inference/rawmodel/add/",
    "integrations/ciprovider/add/",
    "integrations/evolutionprogram/add/",
    "integrations/integrationswitch/add/",
    "integrations/project/add/",
    "integrations/sandboxsettings/1/change/",
    "judgement/judgementfallback/add/",
    "judgement/judgementsettings/1/change/",
)
"""The other forms: looked at once, in the dark, because all but their fields is as on the pages above."""
BUILT = """() => [...document.querySelectorAll("select.admin-autocomplete:not([name*=__prefix__])")].every(
  (field) => field.nextElementSibling?.matches(".select2"))"""
"""Whether the fields that search for a row are built."""
FOLLOWED = (
    "billing/call",
    "billing/wallet",
    "billing/priceversion",
    "inference/alias",
    "inference/upstream",
    "accounts/account",
    "accounts/product",
)
"""Tables whose list is looked at, and the page of the first row."""


def test_the_console(person: Person, gateway: AppGateway) -> None:
    person.enter_the_app()
    person.ask()  # a paid call, so that there is something to show
    person.page.context.clear_cookies()
    page = person.page
    sign_in(page, gateway)
    found = findings(page)
    for address in _console(page, f"{gateway.base_url}/admin", person.email):
        if page.url != address:
            page.goto(address)
        found += findings(page)
    page.emulate_media(color_scheme="dark")
    for path in FORMS:
        page.goto(f"{gateway.base_url}/admin/{path}")
        page.wait_for_function(BUILT)
        found += look(page, {})
    assert found == [], "\n".join(found)


def test_the_portal(person: Person, gateway: AppGateway) -> None:
    person.window.expect(r"status of 40[04] .*/authorize")
    found = []
    person.page.goto(f"{gateway.base_url}/account/login/")
    found += findings(person.page)
    person.sign_up_at_the_portal()
    for path in INSIDE:
        person.page.goto(gateway.base_url + path)
        found += findings(person.page)
    assert found == [], "\n".join(found)


def findings(page: Page) -> list[str]:
    """Return what axe finds in light, on a phone, and in the dark, which differs only in its colours."""
    found = []
    for scheme, screen, rules in (("light", DESK, None), ("light", PHONE, None), ("dark", DESK, ["color-contrast"])):
        page.set_viewport_size(screen)
        if scheme == "dark":  # a page of the console chooses its colours when it is opened
            page.emulate_media(color_scheme="dark")
            page.reload()
        options = {"runOnly": rules} if rules else {}
        found += [f"{scheme} {screen['width']}: {each}" for each in look(page, options)]
    page.emulate_media(color_scheme="light")
    return found


def look(page: Page, options: dict[str, Any]) -> list[str]:
    """Return what axe finds on the page as it is."""
    page.wait_for_load_state()
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    # One rule needs the page's media; what no rule needs is another copy of all its styles.
    all_options = {"resultTypes": ["violations"], "preload": {"assets": ["media"]}} | options
    return [f"{page.url}: {each}" for each in page.evaluate(FIND, all_options)]


def _console(page: Page, console: str, email: str) -> Iterator[str]:
    """Return the addresses; those of rows are followed from their lists."""
    yield from (f"{console}/{path}" for path in PLAIN)
    for table in FOLLOWED:
        yield f"{console}/{table}/"
        page.locator(f"#result_list tbody a[href*='/{table}/']").first.click()
        page.wait_for_url(re.compile(f"/{table}/.+/change/"))
        yield page.url
    page.goto(f"{console}/search/?s={email}")
    page.wait_for_url(re.compile(r"/customers/account/\d+/"))
    yield page.url
