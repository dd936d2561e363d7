"""The stand-in for the payment provider, proved by the vendor's own client."""

import subprocess
import sys
import threading
import time
from typing import Any

import pytest
import requests
import stripe
from stripe import StripeClient

from gateway.run.options import PROJECT_DIR
from tests.simulators.stripe_client import SETUP, client_of, top_up
from tests.support.stripe import FakeStripe


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
    assert requests.get(f"{provider.origin}/v1/balance", auth=(provider.secret_key, ""), timeout=60).status_code == 200
    none = requests.get(f"{provider.origin}/v1/balance", timeout=60)
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
    provider.script("slow", delay_seconds=3)  # longer than a busy machine needs for another request
    options: Any = {"idempotency_key": "busy"}
    other = client_of(provider)
    slow = threading.Thread(target=lambda: client.v1.checkout.sessions.create(top_up(), options))
    slow.start()
    while not provider.sessions:
        time.sleep(0.005)
    with pytest.raises(stripe.APIError) as refused:
        other.v1.checkout.sessions.create(top_up(), options)
    body: Any = refused.value.json_body
    assert (refused.value.http_status, body["error"]["code"]) == (409, "idempotency_key_in_use")
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


def test_a_session_expires_by_itself_or_on_request(provider: FakeStripe, client: StripeClient) -> None:
    expired = client.v1.checkout.sessions.expire(client.v1.checkout.sessions.create(top_up()).id)
    assert (expired.status, expired.url) == ("expired", None)
    aged = client.v1.checkout.sessions.create(top_up())
    provider.advance(86400)
    assert client.v1.checkout.sessions.retrieve(aged.id).status == "expired"
    assert len(provider.events_of("checkout.session.expired")) == 2


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
        body: Any = refused.value.json_body
        assert body["error"]["code"] == "account_invalid"
    both = provider.connect(live=None)
    assert live.v1.accounts.retrieve(both["id"]).id == client.v1.accounts.retrieve(both["id"]).id


def test_an_unknown_address_is_refused(provider: FakeStripe, client: StripeClient) -> None:
    with pytest.raises(stripe.InvalidRequestError, match="Unrecognized request URL"):
        client.v1.invoices.retrieve("in_1")


def test_it_runs_as_a_process_of_its_own() -> None:
    command = [sys.executable, "-m", "tests.support.stripe", "--port", "0"]
    with subprocess.Popen(command, cwd=PROJECT_DIR, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        origin = process.stdout.readline().removeprefix("ready: ").strip()
        printed = process.stdout.readline() + process.stdout.readline()
        assert f"STRIPE_API_BASE={origin} STRIPE_SECRET_KEY=sk_test_" in printed
        answer = requests.get(f"{origin}/v1/balance", auth=("sk_test_standin", ""), timeout=60)
        assert answer.json()["livemode"] is False
        process.terminate()
    assert process.returncode == 0
