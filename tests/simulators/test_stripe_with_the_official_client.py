"""The stand-in for the payment provider, proved by the vendor's own client."""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
import requests
import stripe
from stripe import StripeClient

from gateway.run.options import PROJECT_DIR
from tests.support.server_thread import http_server
from tests.support.stripe import FakeStripe


def client_of(provider: FakeStripe, key: str | None = None, *, retries: int = 0) -> StripeClient:
    http = stripe.RequestsClient(timeout=5)
    address: Any = {"api": provider.origin}
    key = key or provider.secret_key
    return StripeClient(key, base_addresses=address, http_client=http, max_network_retries=retries)


@pytest.fixture
def client(provider: FakeStripe) -> StripeClient:
    return client_of(provider)


def top_up(cents: int = 1250, **members: Any) -> Any:
    price = {"currency": "usd", "unit_amount": cents, "product_data": {"name": "Wallet top-up"}}
    return {
        "mode": "payment",
        "line_items": [{"price_data": price, "quantity": 1}],
        "client_reference_id": "txn_1",
        "metadata": {"transaction_id": "txn_1"},
        "payment_intent_data": {"metadata": {"transaction_id": "txn_1"}},
        "success_url": "http://127.0.0.1:1/back?session={CHECKOUT_SESSION_ID}",
        "cancel_url": "http://127.0.0.1:1/cancelled",
        **members,
    }


SETUP = {
    "mode": "setup",
    "currency": "usd",
    "customer_creation": "always",
    "success_url": "http://127.0.0.1:1/back",
    "setup_intent_data": {"metadata": {"transaction_id": "txn_2"}},
}


def test_a_session_is_made_and_found_again(provider: FakeStripe, client: StripeClient) -> None:
    made = client.v1.checkout.sessions.create(top_up())
    assert made.id.startswith("cs_test_")
    assert made.url == f"{provider.origin}/c/pay/{made.id}"
    assert (made.status, made.payment_status, made.amount_total, made.currency) == ("open", "unpaid", 1250, "usd")
    assert (made.livemode, made.payment_intent, made.client_reference_id) == (False, None, "txn_1")
    assert made.expires_at == made.created + 86400
    assert client.v1.checkout.sessions.retrieve(made.id).to_dict() == made.to_dict()
    items = client.v1.checkout.sessions.line_items.list(made.id).data
    assert [(item.amount_total, item.description) for item in items] == [(1250, "Wallet top-up")]


def test_a_key_sees_its_own_mode(provider: FakeStripe, client: StripeClient) -> None:
    live = client_of(provider, provider.live_secret_key)
    made = live.v1.checkout.sessions.create(top_up())
    assert made.id.startswith("cs_live_")
    assert (made.livemode, live.v1.balance.retrieve().livemode, client.v1.balance.retrieve().livemode) == (
        True,
        True,
        False,
    )
    with pytest.raises(stripe.InvalidRequestError, match="a similar object exists in live mode") as refused:
        client.v1.checkout.sessions.retrieve(made.id)
    assert (refused.value.http_status, refused.value.code) == (404, "resource_missing")


def test_a_wrong_key_is_refused(provider: FakeStripe) -> None:
    with pytest.raises(stripe.AuthenticationError, match="Invalid API Key provided: sk_test_"):
        client_of(provider, "sk_test_someone_else").v1.balance.retrieve()
    assert requests.get(f"{provider.origin}/v1/balance", auth=(provider.secret_key, ""), timeout=5).status_code == 200
    none = requests.get(f"{provider.origin}/v1/balance", timeout=5)
    assert (none.status_code, none.json()["error"]["type"]) == (401, "invalid_request_error")


def test_a_key_gives_the_same_session_again(provider: FakeStripe, client: StripeClient) -> None:
    options: Any = {"idempotency_key": "one"}
    first = client.v1.checkout.sessions.create(top_up(), options)
    again = client.v1.checkout.sessions.create(top_up(), options)
    assert again.to_dict() == first.to_dict()
    assert again.last_response is not None
    assert again.last_response.headers["Idempotent-Replayed"] == "true"
    assert len(provider.sessions) == 1
    with pytest.raises(stripe.IdempotencyError, match="can only be used for the same parameters"):
        client.v1.checkout.sessions.create(top_up(9999), options)
    with pytest.raises(stripe.IdempotencyError, match="same endpoint"):
        client.v1.refunds.create({"charge": "ch_1"}, options)
    provider.advance(86400)
    assert client.v1.checkout.sessions.create(top_up(), options).id != first.id


def test_a_key_is_one_request_at_a_time(provider: FakeStripe, client: StripeClient) -> None:
    provider.script("slow", delay_seconds=0.5)
    options: Any = {"idempotency_key": "busy"}
    slow = threading.Thread(target=lambda: client.v1.checkout.sessions.create(top_up(), options))
    slow.start()
    while not provider.sessions:
        time.sleep(0.005)
    with pytest.raises(stripe.APIError) as refused:
        client_of(provider).v1.checkout.sessions.create(top_up(), options)
    told: Any = refused.value.json_body
    assert (refused.value.http_status, told["error"]["code"]) == (409, "idempotency_key_in_use")
    slow.join()


@pytest.mark.parametrize(
    ("params", "param", "code"),
    [
        (top_up(colour="red"), "colour", "parameter_unknown"),
        (top_up(payment_intent_data={"colour": "red"}), "payment_intent_data[colour]", "parameter_unknown"),
        (top_up(49), "line_items[0]", "amount_too_small"),
        (top_up(success_url="back"), "success_url", "url_invalid"),
        (top_up(expires_at=1), "expires_at", None),
        (top_up(line_items=[]), "line_items", "parameter_missing"),
        ({**SETUP, "currency": ""}, "currency", "parameter_missing"),
        (top_up(metadata={"k" * 41: "v"}), f"metadata[{'k' * 41}]", None),
        (top_up(setup_intent_data={"metadata": {"a": "b"}}), "setup_intent_data", None),
    ],
)
def test_a_wrong_parameter_is_named_and_keeps_no_key(
    provider: FakeStripe, client: StripeClient, params: Any, param: str, code: str | None
) -> None:
    options: Any = {"idempotency_key": "refused"}
    with pytest.raises(stripe.InvalidRequestError) as refused:
        client.v1.checkout.sessions.create(params, options)
    assert (refused.value.http_status, refused.value.param, refused.value.code) == (400, param, code)
    assert provider.sessions == []
    assert client.v1.checkout.sessions.create(top_up(), options).status == "open"


def test_paying_makes_intent_charge_and_events(provider: FakeStripe, client: StripeClient) -> None:
    session_id = client.v1.checkout.sessions.create(top_up()).id
    provider.pay(session_id)
    paid = client.v1.checkout.sessions.retrieve(session_id, {"expand": ["payment_intent.latest_charge.refunds"]})
    assert (paid.status, paid.payment_status, paid.url) == ("complete", "paid", None)
    intent: Any = paid.payment_intent
    assert (intent.status, intent.amount_received, intent.metadata["transaction_id"]) == ("succeeded", 1250, "txn_1")
    charge = intent.latest_charge
    assert (charge.paid, charge.amount, charge.amount_refunded, charge.refunds.data) == (True, 1250, 0, [])
    plain = client.v1.payment_intents.retrieve(intent.id)
    assert plain.latest_charge == charge.id
    assert client.v1.charges.retrieve(charge.id).payment_intent == intent.id
    told = [event["type"] for event in provider.events_of()]
    assert told == [
        "payment_intent.created",
        "charge.succeeded",
        "payment_intent.succeeded",
        "checkout.session.completed",
    ]
    with pytest.raises(stripe.InvalidRequestError, match="Only Checkout Sessions with a status"):
        client.v1.checkout.sessions.expire(session_id)


def test_a_bank_may_answer_later(provider: FakeStripe, client: StripeClient) -> None:
    session_ids = [client.v1.checkout.sessions.create(top_up()).id for _ in range(2)]
    for session_id in session_ids:
        assert provider.pay(session_id, settles=False)["payment_status"] == "unpaid"
    assert provider.settle(session_ids[0])["payment_status"] == "paid"
    failed = provider.fail(session_ids[1])
    assert (failed["status"], failed["payment_status"]) == ("complete", "unpaid")
    assert client.v1.payment_intents.retrieve(failed["payment_intent"]).status == "requires_payment_method"
    later = provider.events_of("checkout.session.async_payment_succeeded", "checkout.session.async_payment_failed")
    assert [event["data"]["object"]["id"] for event in later] == session_ids


def test_a_session_expires_by_itself_or_on_request(provider: FakeStripe, client: StripeClient) -> None:
    asked = client.v1.checkout.sessions.expire(client.v1.checkout.sessions.create(top_up()).id)
    assert (asked.status, asked.url) == ("expired", None)
    aged = client.v1.checkout.sessions.create(top_up())
    provider.advance(86400)
    assert client.v1.checkout.sessions.retrieve(aged.id).status == "expired"
    assert len(provider.events_of("checkout.session.expired")) == 2


def test_a_payment_method_is_kept(provider: FakeStripe, client: StripeClient) -> None:
    made = client.v1.checkout.sessions.create(SETUP)  # type: ignore[arg-type]
    assert (made.amount_total, made.payment_status, made.currency) == (None, "no_payment_required", "usd")
    provider.pay(made.id)
    kept = client.v1.checkout.sessions.retrieve(made.id, {"expand": ["setup_intent.payment_method"]})
    intent: Any = kept.setup_intent
    assert (kept.status, intent.status, intent.metadata["transaction_id"]) == ("complete", "succeeded", "txn_2")
    assert (intent.payment_method.card.last4, intent.payment_method.customer) == ("4242", kept.customer)
    assert client.v1.customers.retrieve(str(kept.customer)).id == kept.customer


def test_refunds_count_until_they_fail(provider: FakeStripe, client: StripeClient) -> None:
    session_id = client.v1.checkout.sessions.create(top_up()).id
    provider.pay(session_id)
    intent_id = provider.get(session_id)["payment_intent"]
    first = client.v1.refunds.create({"payment_intent": intent_id, "amount": 250})
    pending = provider.refund(session_id, status="pending")
    charge = client.v1.charges.retrieve(str(first.charge))
    assert (first.status, pending["amount"], charge.amount_refunded, charge.refunded) == ("succeeded", 1000, 1250, True)
    with pytest.raises(stripe.InvalidRequestError) as refused:
        client.v1.refunds.create({"payment_intent": intent_id})
    assert refused.value.code == "charge_already_refunded"
    provider.turn_refund(pending["id"], "failed")
    charge = client.v1.charges.retrieve(str(first.charge))
    assert (charge.amount_refunded, charge.refunded) == (250, False)
    listed = client.v1.refunds.list({"charge": charge.id}).data
    assert [(refund.amount, refund.status) for refund in listed] == [(1000, "failed"), (250, "succeeded")]
    with pytest.raises(stripe.InvalidRequestError, match="greater than unrefunded amount"):
        client.v1.refunds.create({"charge": charge.id, "amount": 1001})


def test_disputes_take_and_give_back(provider: FakeStripe, client: StripeClient) -> None:
    session_id = client.v1.checkout.sessions.create(top_up()).id
    provider.pay(session_id)
    opened = provider.dispute(session_id, amount=500)
    assert client.v1.charges.retrieve(opened["charge"]).disputed is True
    [found] = client.v1.disputes.list({"charge": opened["charge"]}).data
    assert (found.id, found.status, [row.amount for row in found.balance_transactions]) == (
        opened["id"],
        "needs_response",
        [-500],
    )
    provider.end_dispute(opened["id"], "won")
    ended = client.v1.disputes.retrieve(opened["id"])
    assert (ended.status, [row.amount for row in ended.balance_transactions]) == ("won", [-500, 500])
    told = [event["type"] for event in provider.events_of() if event["type"].startswith("charge.dispute")]
    verbs = ("created", "funds_withdrawn", "closed", "funds_reinstated")
    assert told == [f"charge.dispute.{verb}" for verb in verbs]
    inquiry = provider.dispute(session_id, inquiry=True)
    assert (inquiry["status"], inquiry["balance_transactions"]) == ("warning_needs_response", [])


def test_every_movement_of_money_is_a_balance_transaction(provider: FakeStripe, client: StripeClient) -> None:
    session_id = client.v1.checkout.sessions.create(top_up()).id
    provider.pay(session_id)
    refund = provider.refund(session_id, amount=250)
    provider.turn_refund(refund["id"], "failed")
    dispute = provider.dispute(session_id, amount=500)
    provider.end_dispute(dispute["id"], "won")
    payout = provider.pay_out(100)
    moved = client.v1.balance_transactions.list({"expand": ["data.source"]}).data
    told = [(row.type, row.reporting_category, row.amount, row.fee, row.net) for row in moved]
    assert told[::-1] == [
        ("charge", "charge", 1250, 67, 1183),
        ("refund", "refund", -250, 0, -250),
        ("refund_failure", "refund_failure", 250, 0, 250),
        ("adjustment", "dispute", -500, 1500, -2000),
        ("adjustment", "dispute_reversal", 500, 0, 500),
        ("payout", "payout", -100, 0, -100),
    ]
    sources: list[Any] = [row.source for row in moved[::-1]]
    charge = sources[0]
    assert (charge.object, charge.metadata["transaction_id"]) == ("charge", "txn_1")
    assert charge.balance_transaction == moved[-1].id
    assert [source.id for source in sources[1:5]] == [refund["id"]] * 2 + [dispute["id"]] * 2
    assert {source.payment_intent for source in sources[:5]} == {charge.payment_intent}
    plain = client.v1.balance_transactions.retrieve(payout["id"])
    assert (plain.source, hasattr(plain, "livemode"), plain.currency) == (None, False, "usd")
    [row] = client.v1.balance_transactions.list({"type": "charge"}).data
    assert row.source == charge.id
    assert client_of(provider, provider.live_secret_key).v1.balance_transactions.list().data == []
    with pytest.raises(stripe.InvalidRequestError, match="unknown parameter"):
        client.v1.balance_transactions.list({"customer": "cus_1"})  # type: ignore[arg-type]


def test_balance_transactions_are_paged_within_a_time(provider: FakeStripe, client: StripeClient) -> None:
    for cents in (100, 200, 300):
        provider.sell(cents)
        provider.advance(100)
    rows = client.v1.balance_transactions.list().data
    assert [row.amount for row in rows] == [300, 200, 100]
    since: Any = {"created": {"gte": rows[1].created, "lt": rows[0].created}, "limit": 1}
    assert [row.amount for row in client.v1.balance_transactions.list(since).auto_paging_iter()] == [200]
    pages = client.v1.balance_transactions.list({"limit": 1}).auto_paging_iter()
    assert [row.amount for row in pages] == [300, 200, 100]


def test_lists_are_paged_newest_first(provider: FakeStripe, client: StripeClient) -> None:
    made = [client.v1.checkout.sessions.create(top_up()).id for _ in range(5)][::-1]
    first = client.v1.checkout.sessions.list({"limit": 2})
    assert ([row.id for row in first.data], first.has_more) == (made[:2], True)
    second = client.v1.checkout.sessions.list({"limit": 3, "starting_after": made[1]})
    assert ([row.id for row in second.data], second.has_more) == (made[2:], False)
    assert [row.id for row in client.v1.checkout.sessions.list({"limit": 2}).auto_paging_iter()] == made
    before = client.v1.checkout.sessions.list({"limit": 2, "ending_before": made[4]})
    assert ([row.id for row in before.data], before.has_more) == (made[2:4], True)
    with pytest.raises(stripe.InvalidRequestError):
        client.v1.checkout.sessions.list({"limit": 101})


def test_lists_filter_by_time(provider: FakeStripe, client: StripeClient) -> None:
    client.v1.checkout.sessions.create(top_up())
    provider.advance(100)
    late = client.v1.checkout.sessions.create(top_up())
    since = client.v1.checkout.sessions.list({"created": {"gte": late.created}}).data
    assert [row.id for row in since] == [late.id]
    provider.pay(late.id)
    types: Any = {"types": ["charge.succeeded", "charge.refunded"], "created": {"gte": late.created}}
    [event] = client.v1.events.list(types).data
    assert client.v1.events.retrieve(event.id).data.object["amount"] == 1250


def test_accounts(provider: FakeStripe, client: StripeClient) -> None:
    account = provider.connect(metadata={"org_id": "org_1"}, charges_enabled=False)
    found = client.v1.accounts.retrieve(account["id"])
    assert found.metadata is not None
    assert (found.metadata["org_id"], found.charges_enabled, found.details_submitted) == ("org_1", False, True)
    assert [row.id for row in client.v1.accounts.list().data] == [account["id"]]
    live = client_of(provider, provider.live_secret_key)
    for asks, account_id in ((live, account["id"]), (client, "acct_nobody")):
        with pytest.raises(stripe.PermissionError) as refused:
            asks.v1.accounts.retrieve(account_id)
        told: Any = refused.value.json_body
        assert told["error"]["code"] == "account_invalid"
    both = provider.connect(live=None)
    assert live.v1.accounts.retrieve(both["id"]).id == client.v1.accounts.retrieve(both["id"]).id


@pytest.mark.parametrize(
    ("preset", "error", "made"),
    [
        ("drop-answer", stripe.APIConnectionError, 1),
        ("drop-request", stripe.APIConnectionError, 0),
        ("error", stripe.APIError, 0),
        ("error-after-work", stripe.APIError, 1),
        ("garbage", stripe.APIError, 1),
        ("empty", stripe.APIError, 1),
        ("html", stripe.APIError, 0),
        ("rate-limited", stripe.RateLimitError, 0),
        ("unauthorized", stripe.AuthenticationError, 0),
        ("forbidden", stripe.PermissionError, 0),
        ("unavailable", stripe.APIError, 0),
    ],
)
def test_faults_leave_a_key_that_can_be_tried_again(
    provider: FakeStripe, client: StripeClient, preset: str, error: type[Exception], made: int
) -> None:
    provider.script(preset, method="POST", path="/v1/checkout/*")
    options: Any = {"idempotency_key": "again"}
    with pytest.raises(error):
        client.v1.checkout.sessions.create(top_up(), options)
    assert len(provider.sessions) == made
    after = client.v1.checkout.sessions.create(top_up(), options)
    assert [row["id"] for row in provider.sessions] == [after.id]


def test_a_key_may_remember_an_error(provider: FakeStripe, client: StripeClient) -> None:
    provider.script("error-kept")
    options: Any = {"idempotency_key": "cursed"}
    for _ in range(2):
        with pytest.raises(stripe.APIError):
            client.v1.checkout.sessions.create(top_up(), options)
    assert [asked.replayed for asked in provider.asked] == [False, True]
    assert provider.sessions == []


def test_the_client_retries_by_itself(provider: FakeStripe) -> None:
    patient = client_of(provider, retries=2)
    provider.script("drop-answer")
    provider.script("unavailable")
    made = patient.v1.checkout.sessions.create(top_up())
    assert [row["id"] for row in provider.sessions] == [made.id]
    assert [asked.status for asked in provider.asked] == [0, 503, 200]
    assert len({asked.idempotency_key for asked in provider.asked}) == 1


def test_an_unknown_address_is_refused(provider: FakeStripe, client: StripeClient) -> None:
    with pytest.raises(stripe.InvalidRequestError, match="Unrecognized request URL"):
        client.v1.invoices.retrieve("in_1")


def test_a_customer_pays_on_the_hosted_page(provider: FakeStripe, client: StripeClient) -> None:
    made = client.v1.checkout.sessions.create(top_up(123456))
    assert made.url
    page = requests.get(made.url, timeout=5)
    assert "Pay $1,234.56" in page.text
    assert 'href="http://127.0.0.1:1/cancelled"' in page.text
    paid = requests.post(made.url, timeout=5, allow_redirects=False)
    assert (paid.status_code, paid.headers["Location"]) == (303, f"http://127.0.0.1:1/back?session={made.id}")
    assert client.v1.checkout.sessions.retrieve(made.id).payment_status == "paid"
    assert requests.get(made.url, timeout=5).status_code == 410


class _Endpoint(BaseHTTPRequestHandler):
    heard: list[tuple[bytes, str]] = []
    status = 200

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.heard.append((body, self.headers["Stripe-Signature"]))
        self.send_response(self.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Keep the test's output quiet."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    _Endpoint.heard.clear()
    with http_server(HTTPServer(("127.0.0.1", 0), _Endpoint)) as origin:
        yield f"{origin}/webhooks/stripe"


def test_webhooks_are_signed_and_come_in_order(provider: FakeStripe, client: StripeClient, endpoint: str) -> None:
    provider.webhooks.send_to(endpoint, "whsec_test")
    session_id = client.v1.checkout.sessions.create(top_up()).id
    provider.pay(session_id)
    events = [client.construct_event(body, header, "whsec_test") for body, header in _Endpoint.heard]
    assert [event.type for event in events] == [event["type"] for event in provider.events_of()]
    assert events[-1].data.object["id"] == session_id
    assert {delivery.status for delivery in provider.webhooks.deliveries} == {200}
    body, header = _Endpoint.heard[0]
    for wrong in (body + b" ", body.replace(b"1250", b"9999")):
        with pytest.raises(stripe.SignatureVerificationError):
            client.construct_event(wrong, header, "whsec_test")
    with pytest.raises(stripe.SignatureVerificationError):
        client.construct_event(body, header, "whsec_other")


def test_webhooks_can_be_late_twice_and_out_of_order(provider: FakeStripe, client: StripeClient, endpoint: str) -> None:
    provider.webhooks.send_to(endpoint)
    provider.webhooks.hold()
    provider.pay(client.v1.checkout.sessions.create(top_up()).id)
    assert _Endpoint.heard == []
    held = list(provider.webhooks.waiting)
    assert provider.webhooks.deliver(*reversed(held), times=2) == [200] * 8
    assert provider.webhooks.waiting == []
    told = [client.construct_event(body, header, provider.webhooks.secret).id for body, header in _Endpoint.heard]
    assert told == [event["id"] for event in reversed(held) for _ in range(2)]
    body, headers = provider.webhooks.signed(held[0], age_seconds=301)
    with pytest.raises(stripe.SignatureVerificationError, match="tolerance"):
        client.construct_event(body, headers["Stripe-Signature"], provider.webhooks.secret)


def test_it_runs_as_a_process_of_its_own() -> None:
    command = [sys.executable, "-m", "tests.support.stripe", "--port", "0"]
    with subprocess.Popen(command, cwd=PROJECT_DIR, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        origin = process.stdout.readline().removeprefix("ready: ").strip()
        told = process.stdout.readline() + process.stdout.readline()
        assert f"STRIPE_API_BASE={origin} STRIPE_SECRET_KEY=sk_test_" in told
        answer = requests.get(f"{origin}/v1/balance", auth=("sk_test_standin", ""), timeout=5)
        assert answer.json()["livemode"] is False
        process.terminate()
    assert process.returncode == 0
