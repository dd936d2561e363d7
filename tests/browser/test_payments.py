"""People pay: from the wallet's page, or an organization's, to the provider's page and back."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.app_gateway import AppGateway
from tests.browser.person import PASSWORD, Person
from tests.browser.test_looks import LOOKS, Look, look_at
from tests.browser.test_organizations import Founder
from tests.support.stripe import FakeStripe

Open = Callable[..., Person]
CONFIRMED_MS = 60_000


def add_money(page: Page, amount: str) -> None:
    page.get_by_label("Amount in US dollars").fill(amount)
    page.get_by_role("button", name="Add money").click()


def pay(page: Page, provider: FakeStripe, amount: str) -> None:
    """Pay on the provider's page, which is on another origin."""
    expect(page).to_have_url(re.compile(f"^{re.escape(provider.origin)}/c/pay/cs_test_"))
    page.get_by_role("button", name=f"Pay {amount}").click()


def await_paid(page: Page) -> None:
    """Touch nothing until the page says by itself that the money has arrived."""
    expect(page).to_have_url(re.compile(r"/payments/txn_\w+$"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Paid", timeout=CONFIRMED_MS)


def fact(page: Page, name: str) -> str:
    """Read one line of the wallet."""
    line = page.locator(".facts > div").filter(has=page.get_by_text(name, exact=True))
    return line.locator("dd").inner_text()


@pytest.fixture
def at_the_wallet(person: Person, gateway: AppGateway) -> Page:
    person.register()
    person.page.goto(f"{gateway.base_url}/wallet")
    expect(person.page.get_by_role("heading", name="Wallet")).to_be_visible()
    return person.page


def test_a_newcomer_adds_money(at_the_wallet: Page, gateway: AppGateway, provider: FakeStripe) -> None:
    page = at_the_wallet
    assert fact(page, "Available") == "$0.00"
    add_money(page, "12.50")
    pay(page, provider, "$12.50")
    expect(page).to_have_url(re.compile(f"^{re.escape(gateway.base_url)}/wallet/payments/txn_"))
    await_paid(page)
    page.get_by_role("link", name="View receipt").click()
    expect(page.get_by_role("button", name="Print")).to_be_visible()
    page.get_by_role("link", name="Back to the payment").click()
    page.get_by_role("link", name="Back to payments").click()
    expect(page.get_by_role("row").filter(has_text="$12.50")).to_contain_text("Paid")
    page.get_by_role("navigation", name="Wallet").get_by_role("link", name="Wallet").click()
    assert fact(page, "Available") == "$12.50"


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_waiting_page_turns_to_paid_by_itself(opened: Open, provider: FakeStripe, scripts: bool) -> None:
    person = opened(java_script_enabled=scripts)
    person.sign_up_at_the_portal()
    page = person.page
    page.get_by_role("link", name="Wallet").first.click()
    add_money(page, "6")
    page.get_by_role("link", name="Cancel").click()
    page.goto(page.url.partition("?")[0])
    expect(page.get_by_role("heading", level=1)).to_have_text("Waiting for confirmation")
    elsewhere = person.window.page()
    elsewhere.goto(str(page.get_by_role("link", name="Continue to payment").get_attribute("href")))
    pay(elsewhere, provider, "$6.00")
    await_paid(page)
    expect(page.get_by_role("link", name="View receipt")).to_be_visible()


def test_one_of_the_usual_amounts(at_the_wallet: Page, provider: FakeStripe) -> None:
    page = at_the_wallet
    page.get_by_label("another amount").fill("3")
    page.get_by_label("$50").check()
    expect(page.get_by_label("another amount")).to_have_value("")
    page.get_by_label("another amount").fill("4")
    expect(page.get_by_label("$50")).not_to_be_checked()
    page.get_by_label("$25").check()
    page.get_by_role("button", name="Add money").click()
    pay(page, provider, "$25.00")
    await_paid(page)


def test_leaving_the_payment_page(at_the_wallet: Page, provider: FakeStripe) -> None:
    page = at_the_wallet
    add_money(page, "5")
    page.get_by_role("link", name="Cancel").click()
    expect(page.get_by_role("heading", name="Cancelled")).to_be_visible()
    expect(page.get_by_role("status")).to_have_text("You left the payment page. Nothing was charged.")
    page.get_by_role("link", name="Continue to payment").click()
    pay(page, provider, "$5.00")
    await_paid(page)


def test_an_impatient_click_is_one_payment(at_the_wallet: Page, provider: FakeStripe) -> None:
    before = len(provider.sessions)
    at_the_wallet.get_by_label("Amount in US dollars").fill("7")
    at_the_wallet.get_by_role("button", name="Add money").dblclick()
    pay(at_the_wallet, provider, "$7.00")
    await_paid(at_the_wallet)
    assert len(provider.sessions) == before + 1


def test_going_back_and_sending_again_is_one_payment(at_the_wallet: Page, provider: FakeStripe) -> None:
    add_money(at_the_wallet, "8")
    expect(at_the_wallet.get_by_role("heading", name="Checkout")).to_be_visible()
    [session] = [one for one in provider.sessions if one["amount_total"] == 800]
    at_the_wallet.go_back()
    key = at_the_wallet.locator("form[action='/wallet/payments'] input[name=key]").input_value()
    add_money(at_the_wallet, "8")
    expect(at_the_wallet.get_by_role("heading", name="Checkout")).to_be_visible()
    assert key.startswith("frm_")
    assert at_the_wallet.url.startswith(f"{provider.origin}/c/pay/")
    assert session["status"] == "open"


def test_without_javascript_and_with_only_the_keyboard(opened: Open, provider: FakeStripe) -> None:
    person = opened(java_script_enabled=False)
    person.sign_up_at_the_portal()
    page = person.page
    page.get_by_role("link", name="Wallet").first.click()
    page.get_by_label("Amount in US dollars").focus()
    page.keyboard.type("3.25")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Pay $3.25")).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    await_paid(page)


def test_somebody_with_the_billing_role_pays_for_the_organization(
    person: Person, opened: Open, provider: FakeStripe
) -> None:
    founder = Founder(person)
    founder.enable("Studio")
    bill = opened()
    bill.page.goto(founder.invite("Billing"))
    bill.page.get_by_role("link", name="Sign up").click()
    bill.page.get_by_label("Email").fill(bill.email)
    bill.page.get_by_label("Password", exact=True).fill(PASSWORD)
    bill.page.get_by_role("button", name="Sign up").click()
    bill.page.get_by_role("button", name="Accept").click()
    money = bill.page.get_by_role("navigation", name="Acme").get_by_role("link", name="Money")
    money.click()
    bill.page.get_by_label("Use it for").select_option(label="Studio")
    add_money(bill.page, "100")
    pay(bill.page, provider, "$100.00")
    await_paid(bill.page)
    bill.page.get_by_role("navigation", name="Money").get_by_role("link", name="Wallet").click()
    assert (fact(bill.page, "Available"), fact(bill.page, "Credits")) == ("$100.00", "$100.00")
    bill.page.get_by_role("navigation", name="Money").get_by_role("link", name="Payments").click()
    bill.page.get_by_role("button", name="Save a payment method").click()
    bill.page.get_by_role("button", name="Save card").click()
    expect(bill.page.get_by_text(re.compile("Waiting|is saved for later")).first).to_be_visible()

    log = founder.open("Log").get_by_role("list", name="Changes, newest first")
    expect(log).to_contain_text(bill.email)
    expect(log).to_contain_text("$100.00")


def test_an_owner_leaves_seats_to_a_partner(person: Person, provider: FakeStripe) -> None:
    founder = Founder(person)
    page = founder.enable("Studio")
    page.get_by_role("link", name="Seat billing for Studio").click()
    org_id = page.url.split("/organizations/")[1].partition("/")[0]
    wrong, right = (provider.connect(metadata={"org_id": name})["id"] for name in ("org_other", org_id))
    person.window.expect(r"status of 409 .*/external-billing")
    page.get_by_label("Account at the provider").fill(wrong)
    page.get_by_role("button", name="Confirm with the provider").click()
    founder.says("The payment provider did not confirm")
    page.get_by_label("Account at the provider").fill(right)
    page.get_by_role("button", name="Confirm with the provider").click()
    founder.says("That account now bills the seats of Studio.")
    founder.open("Money").get_by_role("link", name="Usage").click()
    expect(page.get_by_role("row").filter(has_text="Studio")).to_contain_text("Billed elsewhere")


@pytest.mark.parametrize("look", LOOKS)
def test_looks(opened: Any, gateway: AppGateway, provider: FakeStripe, look: Look) -> None:
    person: Person = opened(**look)
    founder = Founder(person)
    page = founder.enable("Studio")
    look_at(page)
    page.get_by_role("link", name="Seat billing for Studio").click()
    look_at(page)
    for name in ("Payments", "Budgets", "Usage", "Wallet"):
        founder.open("Money").get_by_role("link", name=name).last.click()
        look_at(page)
    add_money(page, "250")
    page.get_by_role("link", name="Cancel").click()
    look_at(page)
    page.goto(f"{gateway.base_url}/wallet")
    add_money(page, "20")
    pay(page, provider, "$20.00")
    await_paid(page)
    look_at(page)
    page.get_by_role("link", name="View receipt").click()
    look_at(page)
    for path in ("/wallet/payments", "/wallet/usage", "/wallet"):
        page.goto(gateway.base_url + path)
        look_at(page)
    person.window.expect(r"status of 400 .*/wallet/payments")
    page.get_by_label("Amount in US dollars").evaluate("(input) => (input.form.noValidate = true)")
    add_money(page, "0.10")
    expect(page.get_by_role("alert")).to_be_visible()
    look_at(page)
