"""A support person finds a customer by an email address, and helps: everything by one search and one page."""

import re

from playwright.sync_api import expect

from tests.browser.app_gateway import AppGateway
from tests.browser.person import Person
from tests.browser.test_console import DESK, PHONE, sign_in
from tests.browser.used_months import book_months


def test_a_customer_is_found_and_helped(person: Person, gateway: AppGateway) -> None:
    person.sign_up_at_the_portal()
    did = person.page.locator(".did code").text_content()
    assert did
    book_months(gateway, "account", did)
    person.page.context.clear_cookies()
    page = person.page
    sign_in(page, gateway)

    page.keyboard.press("Control+k")
    page.get_by_role("searchbox", name="Search").fill("nobody@example.com")
    expect(page.locator("#command-results")).to_contain_text("What can be searched for")
    page.get_by_role("searchbox", name="Search").fill(person.email.upper())
    expect(page.locator("#command-results")).to_contain_text(did)
    page.get_by_role("searchbox", name="Search").press("Enter")
    page.wait_for_url(re.compile(r"/admin/customers/account/\d+/"))
    customers_page = page.url
    expect(page.get_by_role("region", name="Calls")).to_be_visible()

    page.get_by_role("link", name="Grant a credit").click()
    page.get_by_label("Amount").fill("5.00")
    page.get_by_label("Reason").fill("slow answers")
    page.get_by_role("button", name="Grant").click()
    expect(page.get_by_text(re.compile(r"Granted \$5\.00 \(crd_\w+\)\."))).to_be_visible()
    expect(page.get_by_role("region", name="Credits")).to_contain_text("$5.00")

    page.get_by_role("link", name="Add a note").click()
    page.get_by_role("textbox", name="Note").fill("Calls on Mondays.")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("region", name="Notes")).to_contain_text("Calls on Mondays.")

    page.get_by_role("link", name="Suspend").click()
    page.get_by_label("Reason").fill("a stolen card")
    page.get_by_role("button", name="Suspend").click()
    expect(page.get_by_role("link", name="Lift suspension")).to_be_visible()
    assert page.url == customers_page
    expect(page.get_by_role("region", name="Log")).to_contain_text("Suspended: a stolen card")

    for screen in (DESK, PHONE):
        page.set_viewport_size(screen)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
