"""The console's home page in light and dark, on a desk and on a phone: charts, and their numbers as tables."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.app_gateway import AppGateway
from tests.browser.person import Person
from tests.browser.test_console import sign_in
from tests.browser.test_looks import LOOKS, Look


@pytest.mark.parametrize("look", LOOKS)
def test_the_home_page(opened: Any, gateway: AppGateway, look: Look) -> None:
    person: Person = opened(**look)
    person.enter_the_app()
    person.ask()  # a paid call, so that there is a chart
    person.page.context.clear_cookies()
    sign_in(person.page, gateway)
    page = person.page
    revenue = page.get_by_role("region", name="Revenue", exact=True)
    expect(revenue.locator("canvas")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    revenue.get_by_text("Numbers").click()
    expect(revenue.get_by_role("table")).to_be_visible()
    expect(revenue.get_by_role("row")).to_have_count(31)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
