"""A month's usage in the portal: the chart that is drawn, the table that it is drawn of, another month, and the file."""

import csv
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from account_gateway_client import fetch_receipt_keys, verify_receipt
from tests.browser.app_gateway import AppGateway
from tests.browser.person import Person
from tests.browser.test_invoices import take_a_seat
from tests.browser.test_looks import LOOKS, PHONE, Look, look_at
from tests.browser.test_organizations import Founder
from tests.browser.used_months import book_months
from tests.support.concurrency import eventually

Open = Callable[..., Person]

# What the chart before a table shows: its sums by name, its colours, and how many of its pixels are drawn.
CHART = """(table) => {
  const canvas = document.querySelector(`figure[data-chart="${table}"] canvas`);
  const { data } = Chart.getChart(canvas);
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  return {
    labels: data.labels,
    sums: data.labels.map((_, at) => data.datasets.reduce((sum, { data }) => sum + data[at], 0)),
    parts: data.datasets.map(({ label }) => label),
    colour: data.datasets[0].borderColor,
    drawn: pixels.filter((value, at) => at % 4 === 3 && value > 0).length,
  };
}"""
COLOUR = """() => Chart.getChart(document.querySelector("canvas")).data.datasets[0].borderColor"""
# The sums of a table by the names of its lines.
TABLE = """(table) => {
  const sums = new Map();
  for (const row of document.getElementById(table).tBodies[0].rows) {
    const name = row.querySelector("th").textContent.trim();
    sums.set(name, (sums.get(name) ?? 0) + Number(row.querySelector("[data-value]").dataset.value));
  }
  return Object.fromEntries(sums);
}"""


def chart(page: Page, table: str) -> dict[str, Any]:
    """Check that a chart shows what its table says, and return it."""
    page.wait_for_load_state()  # the script that draws it comes last
    shown: dict[str, Any] = page.evaluate(CHART, table)
    assert dict(zip(shown["labels"], shown["sums"], strict=True)) == page.evaluate(TABLE, table)
    assert shown["drawn"] > 1000
    return shown


def choose(page: Page, label: str) -> None:
    page.get_by_label("Month (UTC)").select_option(label)
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Usage in {label}")


def last_month(page: Page) -> str:
    [_, label] = page.get_by_label("Month (UTC)").locator("option").all_inner_texts()
    return label


def open_usage(founder: Founder) -> Page:
    founder.open("Money").get_by_role("navigation", name="Money").get_by_role("link", name="Usage").click()
    return founder.page


def downloaded(page: Page, folder: Path) -> tuple[str, list[dict[str, str]]]:
    with page.expect_download() as download:
        page.get_by_role("link", name="Download CSV").click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    with path.open(newline="") as file:
        return path.name, list(csv.DictReader(file))


@pytest.mark.parametrize("look", LOOKS)
def test_a_month_of_an_organization(opened: Open, gateway: AppGateway, look: Look, tmp_path: Path) -> None:
    founder = Founder(opened(**look))
    book_months(gateway, "organization", take_a_seat(founder))
    page = open_usage(founder)
    look_at(page)
    choose(page, last_month(page))
    expect(page).to_have_url(re.compile(r"/usage\?month=20\d\d-\d\d$"))
    days, members = chart(page, "days-numbers"), chart(page, "members-numbers")
    assert sum(days["sums"]) == sum(members["sums"]) == 820_000
    assert set(members["parts"]) == {"No product", "Studio", "Courier"}
    expect(page.get_by_role("img", name="A bar chart of the charges of each day.")).to_be_visible()
    expect(page.get_by_role("table", name="Use by day")).to_be_hidden()
    page.get_by_text("Figures per day").click()
    expect(page.get_by_role("table", name="Use by day").get_by_role("row").last).to_contain_text("$0.820")
    look_at(page)
    page.emulate_media(color_scheme="light" if look["color_scheme"] == "dark" else "dark")
    eventually(lambda: page.evaluate(COLOUR) != days["colour"])
    look_at(page)
    name, rows = downloaded(page, tmp_path)
    assert re.fullmatch(r"usage-acme-20\d\d-\d\d\.csv", name)
    assert sum(int(row["charged_in_month_microusd"]) for row in rows) == 820_000
    assert len(rows) == 41


def test_a_month_without_scripts_has_bars_and_numbers(opened: Open, gateway: AppGateway) -> None:
    founder = Founder(opened(java_script_enabled=False))
    book_months(gateway, "organization", take_a_seat(founder))
    page = open_usage(founder)
    choose(page, last_month(page))
    expect(page.locator("canvas").first).to_be_hidden()
    expect(page.get_by_role("table", name="Use by day").get_by_role("row").last).to_contain_text("$0.820")
    assert page.locator("#days-numbers rect").count() == 27
    look_at(page)


def test_a_persons_call(opened: Open, gateway: AppGateway, tmp_path: Path) -> None:
    person = opened(viewport=PHONE, color_scheme="dark")
    person.sign_up_at_the_portal()
    page = person.page
    page.get_by_text("Your identifier").click()
    book_months(gateway, "account", page.locator(".did code").inner_text())
    page.goto(f"{gateway.base_url}/wallet/usage")
    assert sum(chart(page, "days-numbers")["sums"]) == 15_000 + 81_280
    look_at(page)
    _, rows = downloaded(page, tmp_path)
    assert len(rows) == 8
    page.get_by_role("row").filter(has_text="realtime").get_by_role("link").click()
    expect(page.get_by_text("Charged for the usage that the provider reported.")).to_be_visible()
    parts = page.get_by_role("table", name="The parts of the charge")
    expect(parts.get_by_role("row").filter(has_text="Output tokens of sound")).to_contain_text("$0.04480")
    expect(parts.get_by_role("row").last).to_contain_text("$0.08128")
    look_at(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the receipt").click()
    receipt = download.value.path().read_text()
    claims = verify_receipt(receipt, fetch_receipt_keys(gateway.base_url), issuer=gateway.base_url)
    assert download.value.suggested_filename == f"receipt-{claims['jti']}.jwt"
    assert (claims["route"], claims["charge_microusd"]) == ("realtime", 81_280)
    page.get_by_role("link", name="Back to the month").click()
    expect(page.get_by_role("heading", name="Calls")).to_be_visible()
