"""The console's lists and pages on a desk and on a phone: whoever owns a row can be read, and no page is too wide."""

import re

from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.app_gateway import AppGateway
from tests.browser.person import Person
from tests.browser.used_months import book_months

DESK: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 360, "height": 720}
# The names of owners that are cut off by their cell, or squeezed into a column of a few characters.
UNREADABLE = """() => [...document.querySelectorAll("#result_list .party")]
  .map((party) => [party, party.closest("td, th")])
  .filter(([party, cell]) => cell.scrollHeight > cell.clientHeight + 1 || party.clientWidth < 160)
  .map(([party]) => `${party.textContent} ${party.clientWidth}x${party.clientHeight}`)"""

CUT_OFF = """() => [...document.querySelectorAll(".data-row > :is(td, th)")]
  .filter((cell) => cell.scrollHeight > cell.clientHeight + 1 || cell.scrollWidth > cell.clientWidth + 1)
  .map((cell) => cell.textContent.trim())"""


def sign_in(page: Page, gateway: AppGateway) -> None:
    """Sign in as the operator that the first start made."""
    page.goto(f"{gateway.base_url}/admin/")
    page.get_by_label("Email address or DID").fill("operator@localhost")
    [password] = re.findall(r"operator@localhost .*password: (\S+)", gateway.stdout)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"{gateway.base_url}/admin/")


def test_owners_can_be_read(person: Person, gateway: AppGateway) -> None:
    person.sign_up_at_the_portal()
    did = person.page.locator(".did code").text_content()
    assert did
    book_months(gateway, "account", did)
    person.page.context.clear_cookies()
    sign_in(person.page, gateway)
    for screen, table in ((DESK, "transfer"), (PHONE, "call")):
        person.page.set_viewport_size(screen)
        person.page.goto(f"{gateway.base_url}/admin/billing/{table}/")
        person.page.locator("#result_list .party").first.wait_for()
        assert person.page.evaluate(UNREADABLE) == [], table
    person.page.goto(f"{gateway.base_url}/admin/accounts/account/?q={person.email}")
    person.page.locator("#result_list tbody a").first.click()
    person.page.get_by_text(did).first.wait_for()
    assert person.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_phone_cuts_no_cell_off(person: Person, gateway: AppGateway) -> None:
    sign_in(person.page, gateway)
    person.page.set_viewport_size(PHONE)
    for table in ("jobs/jobrun", "billing/priceversion", "accounts/account", "inference/upstream", "admin/logentry"):
        person.page.goto(f"{gateway.base_url}/admin/{table}/")
        person.page.locator(".data-row").first.wait_for()
        assert person.page.evaluate(CUT_OFF) == [], table


def test_the_policy_breaks_no_page(person: Person, gateway: AppGateway) -> None:
    """A violation is an error in the browser's log, which fails the test. One page of each kind; tests/gateway checks all
    others for scripts that the policy forbids."""
    sign_in(person.page, gateway)
    for path in (
        "accounts/account/",
        "billing/priceversion/add/",
        "inference/upstream/",
        "integrations/project/add/",
        "billing/marginday/",
    ):
        person.page.goto(f"{gateway.base_url}/admin/{path}")
        person.page.locator("h1").first.wait_for()
    person.page.goto(f"{gateway.base_url}/admin/accounts/account/?q=operator")
    person.page.locator("#result_list tbody a").first.click()
    person.page.wait_for_url(re.compile(r"/change/"))
    person.page.goto(person.page.url.replace("/change/", "/history/"))
    person.page.locator("h1").first.wait_for()


def test_a_credits_amount_is_shown_as_it_will_be_booked(person: Person, gateway: AppGateway) -> None:
    sign_in(person.page, gateway)
    person.page.goto(f"{gateway.base_url}/admin/billing/creditlot/add/")
    amount, shown = person.page.get_by_label("Amount"), person.page.locator("output[data-dollars-preview]")
    for typed, words in (("5", "= $5.00"), ("5000000", "= $5,000,000.00"), ("$0.1000010", ""), ("0.10", "= $0.10")):
        amount.fill(typed)
        expect(shown).to_have_text(words)


def test_an_account_is_suspended_on_its_page(person: Person, gateway: AppGateway) -> None:
    person.sign_up_at_the_portal()
    person.page.context.clear_cookies()
    sign_in(person.page, gateway)
    person.page.goto(f"{gateway.base_url}/admin/accounts/account/?q={person.email}")
    person.page.locator("#result_list tbody a").first.click()
    person.page.get_by_role("link", name="Suspend").click()
    person.page.get_by_label("Reason").fill("card was stolen")
    person.page.get_by_role("button", name="Suspend").click()
    person.page.get_by_text("Suspended.").wait_for()
    person.page.get_by_role("link", name="Lift suspension").wait_for()


def test_an_empty_list_says_what_it_has_none_of(person: Person, gateway: AppGateway) -> None:
    sign_in(person.page, gateway)
    person.page.goto(f"{gateway.base_url}/admin/billing/externalmapping/")
    person.page.get_by_role("heading", name="Nothing here").wait_for()
    person.page.get_by_text("There are no external mappings yet.").wait_for()
    person.page.goto(f"{gateway.base_url}/admin/billing/externalmapping/?q=acme")
    person.page.get_by_text("Nothing matches this search and these filters.").wait_for()
    person.page.get_by_role("link", name="Reset filters").click()
    person.page.get_by_text("There are no external mappings yet.").wait_for()
