"""Payments, refunds, disputes and the balance at the stand-in for the payment provider, through the vendor's own client."""

from typing import Any

import pytest
import requests
import stripe
from stripe import StripeClient

from tests.simulators.stripe_client import SETUP, client_of, top_up
from tests.support.stripe import FakeStripe


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
    types = [event["type"] for event in provider.events_of()]
    assert types == [
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


def test_a_payment_method_is_saved(provider: FakeStripe, client: StripeClient) -> None:
    made = client.v1.checkout.sessions.create(SETUP)  # type: ignore[arg-type]
    assert (made.amount_total, made.payment_status, made.currency) == (None, "no_payment_required", "usd")
    provider.pay(made.id)
    retrieved = client.v1.checkout.sessions.retrieve(made.id, {"expand": ["setup_intent.payment_method"]})
    intent: Any = retrieved.setup_intent
    assert (retrieved.status, intent.status, intent.metadata["transaction_id"]) == ("complete", "succeeded", "txn_2")
    assert (intent.payment_method.card.last4, intent.payment_method.customer) == ("4242", retrieved.customer)
    assert client.v1.customers.retrieve(str(retrieved.customer)).id == retrieved.customer


def test_a_payment_saves_its_method_which_is_charged_and_detached(provider: FakeStripe, client: StripeClient) -> None:
    order: Any = top_up(customer_creation="always")
    order["payment_intent_data"] = {**order["payment_intent_data"], "setup_future_usage": "off_session"}
    session_id = client.v1.checkout.sessions.create(order).id
    provider.pay(session_id)
    paid = client.v1.checkout.sessions.retrieve(session_id, {"expand": ["payment_intent"]})
    intent: Any = paid.payment_intent
    assert (intent.setup_future_usage, intent.customer) == ("off_session", paid.customer)
    method = client.v1.payment_methods.retrieve(intent.payment_method)
    assert (method.customer, method.card and method.card.last4) == (paid.customer, "4242")
    charge: Any = {
        "amount": 700,
        "currency": "usd",
        "customer": paid.customer,
        "payment_method": method.id,
        "off_session": True,
        "confirm": True,
    }
    assert client.v1.payment_intents.create(charge).status == "succeeded"
    assert client.v1.payment_methods.detach(method.id).customer is None
    with pytest.raises(stripe.InvalidRequestError, match="not attached"):
        client.v1.payment_methods.detach(method.id)
    with pytest.raises(stripe.InvalidRequestError, match="does not belong"):
        client.v1.payment_intents.create(charge)


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
    types = [event["type"] for event in provider.events_of() if event["type"].startswith("charge.dispute")]
    verbs = ("created", "funds_withdrawn", "closed", "funds_reinstated")
    assert types == [f"charge.dispute.{verb}" for verb in verbs]
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
    rows = [(row.type, row.reporting_category, row.amount, row.fee, row.net) for row in moved]
    assert rows[::-1] == [
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


def test_a_customer_pays_on_the_hosted_page(provider: FakeStripe, client: StripeClient) -> None:
    made = client.v1.checkout.sessions.create(top_up(123456))
    assert made.url
    page = requests.get(made.url, timeout=60)
    assert "Pay $1,234.56" in page.text
    assert 'href="http://127.0.0.1:1/cancelled"' in page.text
    paid = requests.post(made.url, timeout=60, allow_redirects=False)
    assert (paid.status_code, paid.headers["Location"]) == (303, f"http://127.0.0.1:1/back?session={made.id}")
    assert client.v1.checkout.sessions.retrieve(made.id).payment_status == "paid"
    assert requests.get(made.url, timeout=60).status_code == 410
