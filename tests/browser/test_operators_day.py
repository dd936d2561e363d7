"""An operator's first day with a new gateway, in the console alone: a model is opened and sold, customers are helped, trouble is seen.

The gateway has an upstream of its own, beyond a real socket, and a payment provider.
"""

import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from playwright.sync_api import Locator, Page, Response, expect

from tests.browser.app_gateway import AppGateway
from tests.browser.conftest import Open
from tests.browser.person import Person
from tests.browser.test_console import sign_in
from tests.browser.test_payments import add_money, await_paid, pay
from tests.support.concurrency import eventually
from tests.support.stripe import FakeStripe
from tests.support.upstream import FakeUpstream

MODEL = "otter"
CHAT = "/v1/chat/completions"
HOURS = 3
# The worker is stopped; what its runs recorded is as old as if that had happened hours ago.
STOPPED = f"""
from datetime import timedelta
from django.db.models import F
from gateway.core.jobs.models import JobRun
ago = timedelta(hours={HOURS})
JobRun.objects.update(started_at=F("started_at") - ago, ended_at=F("ended_at") - ago)
"""


@dataclass
class Answered:
    """What the customer's app got: the status, the code of a refusal, the charge as the receipt has it."""

    status: int
    code: str
    request_id: str
    usage_id: str
    charge_microusd: int


class Customer:
    """Somebody who may call the model from an app."""

    def __init__(self, person: Person) -> None:
        self.person, self.page = person, person.page
        self.responses: list[Response] = []
        self.page.on("response", self._note)

    def sign_up(self) -> None:
        """Sign up through the app, which asks for the model."""
        self.page.goto(self.person.gateway.app_url)
        scopes = f"{{ scopes: ['infer:{MODEL}', 'wallet:read'] }}"
        self.page.goto(self.person.as_the_app(f"return gateway.beginSignIn({scopes})"))
        self.person.sign_up()
        self.person.allow()

    def call(self) -> Answered:
        """Call the model once."""
        self.responses.clear()
        body = f"{{ model: '{MODEL}', max_tokens: 40, messages: [{{ role: 'user', content: 'Hello' }}] }}"
        act = f"return gateway.chat({body}, {{ maxCostMicrousd: 20000 }}).then(() => '', (error) => error.code)"
        code = self.person.as_the_app(act)
        headers = self.responses[-1].all_headers()
        return Answered(
            self.responses[-1].status,
            code,
            headers["x-request-id"],
            headers.get("x-service-usage-id", ""),
            int(headers.get("x-service-charge-microusd", "0")),
        )

    def _note(self, response: Response) -> None:
        if response.url.endswith(CHAT) and response.request.method == "POST":
            self.responses.append(response)


class Operator:
    """The operator that the first start made, at the console."""

    def __init__(self, person: Person) -> None:
        self.person, self.page = person, person.page
        self.base = f"{person.gateway.base_url}/admin/"
        sign_in(self.page, person.gateway)

    def home(self) -> Page:
        self.page.goto(self.base)
        return self.page

    def waiting(self, text: str, *, is_urgent: bool = False) -> Locator:
        """Wait for a line of the home page."""
        kind = "li.is-urgent" if is_urgent else "li"
        line = self.page.locator(f".home-waiting {kind}").filter(has_text=text)
        eventually(lambda: self.home() and line.count() == 1)
        return line

    def find(self, text: str) -> Page:
        """Open what the search finds."""
        self.page.keyboard.press("Control+k")
        box = self.page.get_by_role("searchbox", name="Search")
        box.fill(text)
        expect(self.page.locator("#command-results a").first).to_be_visible()
        with self.page.expect_navigation():
            box.press("Enter")
        return self.page

    def do(self, action: str, submit: str, **fields: str) -> None:
        """Do what a dialog asks for."""
        named = re.compile(rf"(^| ){action}$")  # after the name of its icon
        self.page.get_by_role("link", name=named).first.click()
        dialog = self.page.locator("#dialog")
        for label, value in fields.items():
            dialog.get_by_label(label.replace("_", " ")).fill(value)
        dialog.get_by_role("button", name=submit, exact=True).click()
        expect(dialog).to_be_hidden()

    def says(self, text: str | re.Pattern[str]) -> None:
        expect(self.page.get_by_text(text).first).to_be_visible()


@pytest.fixture(scope="module")
def upstream() -> Iterator[FakeUpstream]:
    with FakeUpstream(api_key="sk-first") as running:
        yield running


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeStripe]:
    with FakeStripe() as running:
        yield running


@pytest.fixture(scope="module")
def gateway(provider: FakeStripe) -> Iterator[AppGateway]:
    """Start one that has nothing but what `make run` gives it."""
    with AppGateway(provider=provider) as gateway:
        provider.webhooks.send_to(f"{gateway.base_url}/webhooks/stripe")
        gateway.start_app()
        yield gateway


def test_an_operators_day(opened: Open, gateway: AppGateway, provider: FakeStripe, upstream: FakeUpstream) -> None:
    operator, customer = Operator(opened()), Customer(opened())
    customer.person.window.expect("status of 40[0-9]", "status of 50[0-9]")
    open_model(operator, upstream)
    customer.sign_up()
    find_call(operator, customer)
    resolve_review(operator, customer, upstream)
    refund_payment(operator, customer, provider)
    rotate_key(operator, customer, upstream)
    see_trouble(operator, customer, upstream)
    suspend(operator, customer)


def open_model(operator: Operator, upstream: FakeUpstream) -> None:
    """Add an upstream, price a model of it, try it and open it."""
    page = operator.page
    page.goto(f"{operator.base}inference/alias/")
    page.get_by_role("link", name="New model").first.click()
    page.get_by_role("link", name="Add an upstream").click()
    page.locator("#id_name").fill("primary")
    page.locator("#id_adapter").select_option("openai")
    page.locator("#id_base_url").fill(upstream.base_url)
    page.locator("#id_api_key").fill("sk-first")
    page.get_by_role("button", name="Save", exact=True).click()
    operator.says(re.compile("was added successfully"))
    page.goto(f"{operator.base}inference/alias/new/")
    page.locator("#id_name").fill(MODEL)
    page.locator("#id_upstream").select_option(label="primary")
    page.locator("#id_upstream_model").fill("small-1")
    page.locator("#id_price-input_token").fill("15")
    page.locator("#id_price-output_token").fill("60")
    page.locator("#id_cost-input_token").fill("5")
    page.locator("#id_cost-output_token").fill("20")
    page.get_by_role("button", name="Make the model").click()
    operator.says(re.compile("is made, and closed"))
    page.get_by_role("button", name="Make the call").click()
    expect(page.locator("[data-outcome=answered]")).to_contain_text("answered with 200")
    page.get_by_role("link", name=f"Back to {MODEL}").click()
    operator.do("Open", "Open", Reason="tried")
    operator.says("Opened.")


def find_call(operator: Operator, customer: Customer) -> None:
    """Find a call by its request id, and see its way through the gateway and its money."""
    answered = eventually(lambda: called(customer, 200))
    assert answered
    page = operator.home()
    operator.find(answered.request_id)
    expect(page).to_have_url(re.compile(f"/billing/call/{answered.usage_id}/"))
    expect(page.locator("#content")).to_contain_text(f"${answered.charge_microusd / 1_000_000:.6f}".rstrip("0"))
    expect(page.locator("#content")).to_contain_text("margin $0.0")
    steps = page.locator(".steps")
    eventually(lambda: page.reload() and steps.get_by_text("First byte from primary").count())  # its trace
    for step in (
        "The request arrived",
        "are held",
        "Attempt 1: sent to",
        "its answer is complete",
        "The ledger charged",
    ):
        expect(steps).to_contain_text(step)


def resolve_review(operator: Operator, customer: Customer, upstream: FakeUpstream) -> None:
    """Charge a call whose usage is not known, from the home page on."""
    upstream.script("usage-missing")
    customer.call()
    page = operator.page
    operator.waiting("1 call waits for a decision").get_by_role("link").click()
    page.locator("#result_list tbody a").first.click()
    operator.do("Charge", "Charge", Charge="0.001", Reason="the upstream's log has 16 tokens")
    operator.says(re.compile(r"Charged \$0\.001"))
    operator.home()
    expect(page.get_by_text("waits for a decision")).to_be_hidden()


def refund_payment(operator: Operator, customer: Customer, provider: FakeStripe) -> None:
    """Refund a top-up at the provider, from the customer's page, and book it at once."""
    page = customer.page
    page.goto(f"{operator.person.gateway.base_url}/wallet")
    add_money(page, "12.50")
    pay(page, provider, "$12.50")
    await_paid(page)
    operator.home()
    operator.find(customer.person.email)
    payment = operator.page.get_by_role("region", name="Payments").get_by_role("row").filter(has_text="$12.50")
    expect(payment.get_by_role("link", name="Refund at Stripe")).to_have_attribute("href", re.compile("/payments/pi_"))
    [session] = provider.sessions
    provider.refund(session["id"])
    operator.do("Ask the provider again", "Ask", Reason="refunded on the customer's wish")
    operator.says("The provider responded.")
    expect(payment.get_by_role("cell").nth(3)).to_have_text("$12.50")


def rotate_key(operator: Operator, customer: Customer, upstream: FakeUpstream) -> None:
    """Replace the upstream's key while calls go on."""
    page = operator.page
    upstream.accept_key(None)
    operator.find("primary")
    upstreams_page = page.url
    operator.do("Next key", "Add", Next_API_key="sk-second", Reason="the yearly change")
    operator.says("Added the next key.")
    operator.do("Switch to the next key", "Switch", Reason="it works")
    operator.says("Switched to the next key.")
    customer.page.goto(customer.person.gateway.app_url)
    customer.person.await_the_app()
    eventually(lambda: called(customer, 200) and list(upstream.ledger)[-1].authorization == "Bearer sk-second")
    operator.do("Remove the other key", "Remove", Reason="it is revoked")
    operator.says("Removed the old key.")
    upstream.accept_key("sk-second")
    assert customer.call().status == 200
    assert page.url == upstreams_page


def see_trouble(operator: Operator, customer: Customer, upstream: FakeUpstream) -> None:
    """See on the home page alone that an upstream refuses every call, and that the jobs have stopped."""
    upstream.accept_key("sk-third")
    refused = customer.call()
    assert (refused.status, refused.code) == (503, "model_unavailable")
    line = operator.waiting(f"Upstream primary fails for {MODEL}", is_urgent=True)
    expect(line).to_contain_text("answered 401")
    expect(line.locator("time")).to_contain_text("for ")
    upstream.accept_key("sk-second")
    with worker_stopped(operator.person.gateway):
        line = operator.waiting("Job that does not run: Find abandoned calls", is_urgent=True)
        expect(line.locator("time")).to_contain_text(f"for {HOURS}")


def suspend(operator: Operator, customer: Customer) -> None:
    """Suspend the account: its next call is refused."""
    operator.home()
    operator.find(customer.person.email)
    operator.do("Suspend", "Suspend", Reason="a stolen card")
    expect(operator.page.get_by_role("link", name="Lift suspension")).to_be_visible()
    refused = customer.call()
    assert refused.status in (401, 403), refused


def called(customer: Customer, status: int) -> Answered | None:
    answered = customer.call()
    return answered if answered.status == status else None


@contextmanager
def worker_stopped(gateway: AppGateway) -> Iterator[None]:
    """Stop the worker, as if hours ago."""
    worker = gateway.children()["worker"]
    os.kill(worker, signal.SIGSTOP)
    try:
        done = gateway.manage("shell", "-c", STOPPED)
        assert done.returncode == 0, done.stderr
        yield
    finally:
        os.kill(worker, signal.SIGCONT)
