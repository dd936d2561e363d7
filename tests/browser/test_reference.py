"""The pages at /docs in a browser that reaches no other host: nothing is blocked by their policy, and nothing is asked of others."""

from typing import Any

import pytest
from playwright.sync_api import Route, expect

from tests.browser.app_gateway import AppGateway
from tests.browser.person import Person
from tests.browser.test_looks import LOOKS, Look, look_at


@pytest.mark.parametrize("look", LOOKS)
def test_the_reference_and_the_errors(opened: Any, gateway: AppGateway, look: Look) -> None:
    person: Person = opened(**look)
    foreign: list[str] = []

    def refuse(route: Route) -> None:
        foreign.append(route.request.url)
        route.abort()

    own = gateway.base_url + "/"
    person.window.context.route(lambda url: not url.startswith((own, "data:", "blob:")), refuse)
    page = person.page
    page.goto(gateway.base_url + "/docs#tag/chat/POST/v1/chat/completions")
    expect(page.locator("#index")).to_have_count(0)
    expect(page.get_by_text("agw request POST /v1/chat/completions").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.goto(gateway.base_url + "/docs/errors#insufficient_funds")
    look_at(page)
    expect(page.locator("#insufficient_funds")).to_be_in_viewport()
    assert foreign == []
