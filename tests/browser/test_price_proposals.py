"""Proposed prices in the console, on a desk and on a phone: compared with a catalogue, looked at, and accepted."""

import json
from pathlib import Path

from tests.browser.app_gateway import AppGateway
from tests.browser.person import Person
from tests.browser.test_console import CUT_OFF, DESK, PHONE, sign_in

CATALOGUE = {
    "demo-fast": {
        "litellm_provider": "demo",
        "input_cost_per_token": 1.8e-07,
        "cache_read_input_token_cost": 9e-08,
        "output_cost_per_token": 7.2000001e-07,
        "input_cost_per_token_above_200k_tokens": 3.6e-07,
        "input_cost_per_token_flex": 9e-08,
        "output_cost_per_token_batches": 1e-07,
    },
    "demo-balanced": {
        "litellm_provider": "demo",
        "input_cost_per_token": 4e-06,
        "output_cost_per_token": 4e-06,
    },
}


def test_a_price_is_accepted(person: Person, gateway: AppGateway, tmp_path: Path) -> None:
    file = tmp_path / "prices.json"
    file.write_text(json.dumps(CATALOGUE))
    done = gateway.manage("propose_prices", str(file), "--only", "fast", "balanced")
    assert done.returncode == 0, done.stderr
    page = person.page
    sign_in(page, gateway)
    for screen in (PHONE, DESK):
        page.set_viewport_size(screen)
        page.goto(f"{gateway.base_url}/admin/inference/priceproposal/")
        page.locator(".data-row").first.wait_for()
        assert page.evaluate(CUT_OFF) == []
        page.get_by_role("link", name="fast", exact=True).first.click()
        page.get_by_text("flex: input_token").first.wait_for()
        assert page.evaluate(CUT_OFF) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("link", name="Accept").click()
    page.get_by_label("Reason").fill("right")
    page.get_by_role("button", name="Publish").click()
    page.get_by_text("Accepted. The price of fast is published.").first.wait_for()
    page.goto(f"{gateway.base_url}/admin/billing/priceversion/?q=fast")
    page.get_by_text("input_token 0.18").first.wait_for()
