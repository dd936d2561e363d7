"""A new model in the console: made by one form, tried, opened and called; its key replaced; on a desk and on a phone."""

import re
import uuid

from playwright.sync_api import Page, expect

from account_gateway_client import Gateway, ProductKey, ProductServer
from account_gateway_client.receipts import call_headers
from tests.browser.app_gateway import AppGateway
from tests.browser.person import Person
from tests.browser.test_console import CUT_OFF, DESK, PHONE, sign_in
from tests.support.concurrency import eventually
from tests.support.demo_gateway import ALICE, ISSUER

NAME = "badger"


def test_a_new_model_is_tried_opened_and_called(person: Person, gateway: AppGateway) -> None:
    page = person.page
    sign_in(page, gateway)
    page.goto(f"{gateway.base_url}/admin/inference/alias/")
    page.get_by_role("link", name="New model").first.click()
    fits(page)
    page.locator("#id_name").fill(NAME)
    page.locator("#id_upstream").select_option(label="demo")
    page.locator("#id_upstream_model").fill("demo-badger")
    page.get_by_label("chat.completions").check()
    page.locator("#id_price-input_token").fill("1e30")
    page.locator("#id_price-output_token").fill("2")
    page.locator("#id_cost-input_token").fill("0.5")
    page.get_by_role("button", name="Make the model").click()
    expect(page.get_by_text("input_token must be a price in micro-USD").first).to_be_visible()
    page.locator("#id_price-input_token").fill("1")
    page.get_by_role("button", name="Make the model").click()
    expect(page.get_by_text("is made, and closed").first).to_be_visible()

    page.get_by_role("button", name="Make the call").click()
    expect(page.locator("[data-outcome=answered]")).to_contain_text(re.compile(r"answered with 200 after [\d,]+ ms"))
    fits(page)

    page.get_by_role("link", name=f"Back to {NAME}").click()
    expect(page.get_by_text("the model is disabled").first).to_be_visible()
    fits(page)
    page.locator("a[hx-get$='/open/']").first.click()
    page.locator("#id_reason").fill("tried")
    page.get_by_role("button", name="Open", exact=True).click()
    expect(page.get_by_text("Opened.").first).to_be_visible()

    page.get_by_role("link", name="Calculator").first.click()
    page.locator("#id_input_tokens").fill("1000000")
    page.locator("#id_output_tokens").fill("1")
    page.get_by_role("button", name="Calculate").click()
    expect(page.locator("[data-charge]")).to_have_text("$1.000002")
    expect(page.locator("[data-hold]")).to_have_text("$1.000002")
    fits(page)

    done = gateway.manage("demo")  # makes the demo's product and its credit
    assert done.returncode == 0, done.stderr
    product = ProductServer(
        gateway.base_url, issuer=ISSUER, product="studio", key=ProductKey.load(gateway.data_dir / "demo-product.pem")
    )
    caller = Gateway(gateway.base_url, product.tokens_for(ALICE, [f"infer:{NAME}"]))
    body = {"model": NAME, "messages": [{"role": "user", "content": "Hi"}]}

    def status() -> int:
        headers = call_headers(max_cost_microusd=50_000, idempotency_key=uuid.uuid4().hex)
        return caller.request("POST", "/v1/chat/completions", json=body, headers=headers).status_code

    eventually(lambda: status() == 200)  # every process sees it within 15 seconds


def fits(page: Page) -> None:
    """Look at the page on a phone and on a desk: nothing is cut off, and nothing is wider than the screen."""
    for screen in (PHONE, DESK):
        page.set_viewport_size(screen)
        assert page.evaluate(CUT_OFF) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
