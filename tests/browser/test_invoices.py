"""A month of an organization, followed in the portal from the seat to the invoice to the payment, and on its usage page."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.app_gateway import AppGateway
from tests.browser.person import Person
from tests.browser.test_looks import LOOKS, Look, look_at
from tests.browser.test_organizations import Founder
from tests.browser.used_months import book_months
from tests.support.stripe import FakeStripe

Open = Callable[..., Person]
JOBS_MS = 120_000
# What was begun today was begun last month, and the job that drafts the invoice runs now, as it will an hour after the
# month's end.
A_MONTH_LATER = """
from datetime import timedelta
from django.utils import timezone
from billing.rules.invoices import SETTLED_AFTER
from organizations.models import EntitlementInterval, SeatInterval
from organizations.operations import seat_invoices
of = {of!r}
for rows, owner in (
    (EntitlementInterval.objects, "entitlement__organization_id"), (SeatInterval.objects, "seat__entitlement__organization_id")
):
    for one in rows.filter(**{{owner: of}}):
        start = (one.started_at.replace(day=1) - timedelta(days=1)).replace(day=1, hour=0, minute=0, second=0)
        rows.filter(pk=one.pk).update(started_at=start)
seat_invoices.draft_all(now=timezone.now() + SETTLED_AFTER)
"""


def a_month_later(gateway: AppGateway, org_id: str) -> None:
    """Move the start of the organization's products and seats to the beginning of last month."""
    done = gateway.manage("shell", "-c", A_MONTH_LATER.format(of=org_id))
    assert done.returncode == 0, done.stderr


def take_a_seat(founder: Founder) -> str:
    """Enable a product, assign the founder a seat of it, and return the organization's id."""
    founder.enable()
    page = founder.open("Seats")
    page.get_by_role("button", name=re.compile("^Assign")).first.click()
    return page.url.split("/organizations/")[1].split("/")[0]


def open_invoice(founder: Founder) -> Page:
    page = founder.open("Money")
    page.get_by_role("navigation", name="Money").get_by_role("link", name="Invoices").click()
    page.get_by_role("table").get_by_role("link").first.click()
    return page


def await_words(page: Page, words: str) -> None:
    """Look until the jobs, which run every few seconds, have got there."""
    for _ in range(JOBS_MS // 1000):
        if page.locator("main").get_by_text(words, exact=True).count():
            return
        page.wait_for_timeout(1000)
        page.reload()
    raise AssertionError(f"{page.url} never said {words!r}: {page.locator('main').inner_text()}")


def save_method(page: Page, provider: FakeStripe, answer: str) -> None:
    provider.keeping.answer = answer
    page.get_by_role("button", name=re.compile("^Save (a|another) payment method")).click()
    expect(page).to_have_url(re.compile(f"^{re.escape(provider.origin)}/c/pay/cs_test_"))
    page.get_by_role("button", name="Save card").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Saved", timeout=JOBS_MS)


@pytest.mark.parametrize("look", LOOKS)
def test_from_the_seat_to_the_payment(opened: Open, gateway: AppGateway, provider: FakeStripe, look: Look) -> None:
    founder = Founder(opened(**look))
    org_id = take_a_seat(founder)
    a_month_later(gateway, org_id)
    page = open_invoice(founder)
    look_at(page)
    invoice = page.url
    await_words(page, "Open")
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(r"^Invoice INV-\d{6}$"))
    save_method(page, provider, "authentication_required")
    page.goto(invoice)
    await_words(page, "Past due")
    expect(page.get_by_text("The bank wants the card's owner to confirm.")).to_be_visible()
    look_at(page)
    save_method(page, provider, "succeeds")
    page.goto(invoice)
    await_words(page, "Paid")
    look_at(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download PDF").click()
    assert re.fullmatch(r"INV-\d{6}\.pdf", download.value.suggested_filename)
    page.goto(invoice.rpartition("/")[0])
    look_at(page)
    book_months(gateway, "organization", org_id)
    page.get_by_role("navigation", name="Money").get_by_role("link", name="Usage").click()
    page.get_by_label("Month (UTC)").select_option(index=1)
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("table", name="Use by model").get_by_role("row").last).to_contain_text("$0.820")
    expect(page.get_by_role("region", name="Seats")).to_contain_text("Paid")
    page.get_by_role("region", name="Seats").get_by_role("link", name="invoice INV-").click()
    expect(page).to_have_url(invoice)
