"""POST /webhooks/stripe: a signed event is a hint, an unsigned one is nothing."""

import json
import uuid
from typing import Any

import httpx
import pytest
from pytest_django import Settings

from billing.models import Checkout, ProviderEvent
from gateway.core.contract.limits import WEBHOOK_BODY_MAX_BYTES
from tests.billing.payments.payer import USD, Payer, payments, reconcile, status
from tests.support.stripe import FakeStripe

PATH = "/webhooks/stripe"


@pytest.fixture
def begun(payer: Payer, provider: FakeStripe) -> Checkout:
    """A top-up that was paid, and of which no webhook came."""
    provider.webhooks.hold()
    checkout = payer.begin()
    provider.pay(str(checkout.session_ref))
    return checkout


def completed(provider: FakeStripe) -> dict[str, Any]:
    [event] = provider.events_of("checkout.session.completed")
    return event


def send(payer: Payer, body: bytes, signature: str | None) -> httpx.Response:
    headers = {b"Content-Type": b"application/json"}
    if signature is not None:
        headers[b"Stripe-Signature"] = signature.encode("latin-1")
    return payer.client.post(payer.origin + PATH, content=body, headers=headers)


def stored(event: dict[str, Any]) -> list[ProviderEvent]:
    return list(ProviderEvent.objects.filter(event_id=event["id"]))


def test_a_signed_event_brings_the_money(payer: Payer, provider: FakeStripe, begun: Checkout) -> None:
    event = completed(provider)
    body, headers = provider.webhooks.signed(event)
    answer = payer.client.post(payer.origin + PATH, content=body, headers=headers)
    assert (answer.status_code, answer.json()) == (200, {"received": True})
    assert payer.money == (5 * USD, 0, 0)
    assert payments(begun) == [5 * USD]
    begun.refresh_from_db()
    assert begun.paid_at is not None
    [row] = stored(event)
    assert (row.type, row.checkout_id, row.handled_at is not None) == (
        "checkout.session.completed",
        begun.id,
        True,
    )


def test_nothing_personal_is_stored_of_an_event(payer: Payer, provider: FakeStripe, begun: Checkout) -> None:
    event = completed(provider)
    assert event["data"]["object"]["customer_details"]["email"] == "payer@example.com"
    provider.webhooks.deliver(event)
    [row] = ProviderEvent.objects.filter(event_id=event["id"]).values()
    assert "payer@example.com" not in json.dumps(row, default=str)


def test_a_duplicate_changes_nothing(payer: Payer, provider: FakeStripe, begun: Checkout) -> None:
    event = completed(provider)
    assert provider.webhooks.deliver(event, times=3) == [200, 200, 200]
    assert payer.money == (5 * USD, 0, 0)
    assert len(stored(event)) == 1


@pytest.mark.parametrize(
    "how",
    [
        "another secret",
        "old",
        "of the future",
        "another body",
        "missing",
        "empty",
        "nonsense",
        "no ASCII",
        "no time",
        "v0 alone",
    ],
)
def test_a_bad_signature_is_refused_and_nothing_is_stored(
    payer: Payer, provider: FakeStripe, begun: Checkout, how: str
) -> None:
    event = completed(provider)
    body, headers = provider.webhooks.signed(event)
    good = headers["Stripe-Signature"]
    signatures: dict[str, str | None] = {
        "another secret": provider.webhooks.signature(body, secret="whsec_stranger"),
        "old": provider.webhooks.signature(body, age_seconds=600),
        "of the future": provider.webhooks.signature(body, age_seconds=-600),
        "another body": good,
        "missing": None,
        "empty": "",
        "nonsense": "v1=abc,,t=x",
        "no ASCII": good.replace("v1=", "v1=\xe9"),
        "no time": good.partition(",")[2],
        "v0 alone": ",".join(part for part in good.split(",") if not part.startswith("v1")),
    }
    answer = send(payer, body.replace(b'"paid"', b'"free"') if how == "another body" else body, signatures[how])
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_request")
    assert stored(event) == []
    assert (payer.money, status(begun)) == ((0, 0, 0), "open")


@pytest.mark.parametrize("age_seconds", [240, -240])
def test_clocks_may_differ_a_little(payer: Payer, provider: FakeStripe, begun: Checkout, age_seconds: int) -> None:
    body, _ = provider.webhooks.signed(completed(provider))
    assert send(payer, body, provider.webhooks.signature(body, age_seconds=age_seconds)).status_code == 200
    assert payer.money == (5 * USD, 0, 0)


def test_while_the_secret_is_rotated_either_signs(
    payer: Payer, provider: FakeStripe, begun: Checkout, settings: Settings
) -> None:
    settings.STRIPE_WEBHOOK_SECRET = ["whsec_new", "whsec_old"]
    body, _ = provider.webhooks.signed(completed(provider))
    answers = [
        send(payer, body, provider.webhooks.signature(body, secret=secret)).status_code
        for secret in ("whsec_new", "whsec_old", "whsec_standin")
    ]
    assert answers == [200, 200, 400]
    both = f"{provider.webhooks.signature(body, secret='whsec_gone')},{_v1(provider, body, 'whsec_old')}"
    assert send(payer, body, both).status_code == 200
    assert payer.money == (5 * USD, 0, 0)


def _v1(provider: FakeStripe, body: bytes, secret: str) -> str:
    return provider.webhooks.signature(body, secret=secret).split(",")[1]


def test_a_forged_event_credits_nothing_even_when_it_is_signed(payer: Payer, provider: FakeStripe) -> None:
    """The provider is asked, and it knows better."""
    checkout = payer.begin()
    session = {**provider.get(str(checkout.session_ref)), "status": "complete", "payment_status": "paid"}
    lie = {"id": f"evt_{uuid.uuid4().hex}", "type": "checkout.session.completed", "data": {"object": session}}
    body = json.dumps(lie).encode()
    assert send(payer, body, provider.webhooks.signature(body)).status_code == 200
    assert (payer.money, status(checkout)) == ((0, 0, 0), "open")


def odd_event(**members: Any) -> bytes:
    """Make the body of an event that is as it should be but for these members."""
    return json.dumps(
        {"id": "evt_odd", "type": "charge.refunded", "data": {"object": {"id": "ch_1"}}, **members}
    ).encode()


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"not json", b"[]", b"{}", b'{"id":"evt_1","type":"charge.refunded"}', b"\xff\xfe", b"[" * 100_000),
        *(odd_event(id=one) for one in (5, True, "", "evt_\x00", "evt_\ud800", "evt\nforged line", "e" * 256)),
        *(odd_event(type=one) for one in (["charge."], "charge.\u202ex", "charge." + "x" * 300)),
        odd_event(data={"object": []}),
        odd_event(data={"object": {"id": 5}}),
        odd_event(data={"object": {"id": "x", "metadata": "x"}}),
        odd_event(amount=0).replace(b'"amount": 0', b'"amount": ' + b"9" * 5000),
    ],
)
def test_a_signed_body_without_sense_is_refused(payer: Payer, provider: FakeStripe, body: bytes) -> None:
    mac = provider.webhooks.signature(body)
    assert send(payer, body, mac).status_code == 400
    assert not ProviderEvent.objects.filter(event_id__startswith="evt_odd").exists()


@pytest.mark.parametrize(
    "about",
    [
        {"id": "x" * 100_000},
        {"id": "../../v1/refunds"},
        {"id": "ch_1", "payment_intent": "../v1/refunds"},
        {"id": "ch_1", "client_reference_id": "an order\nof somebody"},
        {"id": "ch_1", "metadata": {"transaction_id": "\ud800" + "x" * 400}},
    ],
)
def test_what_else_the_account_sells_may_be_named_in_any_way(payer: Payer, provider: FakeStripe, about: Any) -> None:
    """Refused, such an event would come again and again."""
    body = odd_event(id=f"evt_{uuid.uuid4().hex}", data={"object": about})
    assert send(payer, body, provider.webhooks.signature(body)).status_code == 200
    row = ProviderEvent.objects.latest("pk")
    assert {row.object_ref, row.payment_ref, row.transaction_id} <= {"-", "ch_1", None}
    assert row.handled_at is not None


def test_an_event_that_comes_under_the_id_of_another_changes_nothing(
    payer: Payer, provider: FakeStripe, begun: Checkout
) -> None:
    """What the first one kept from being looked into, the schedule finds."""
    event = completed(provider)
    body = odd_event(id=event["id"])
    assert send(payer, body, provider.webhooks.signature(body)).status_code == 200
    assert provider.webhooks.deliver(event) == [200]
    assert (payer.money, [row.type for row in stored(event)]) == ((0, 0, 0), ["charge.refunded"])
    reconcile()
    assert payer.money == (5 * USD, 0, 0)


def test_a_body_beyond_the_limit_is_refused(payer: Payer, provider: FakeStripe) -> None:
    body = b" " * (WEBHOOK_BODY_MAX_BYTES + 1)
    answer = send(payer, body, provider.webhooks.signature(body))
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "request_too_large")


def test_an_event_that_cannot_concern_us_is_answered_and_forgotten(payer: Payer, provider: FakeStripe) -> None:
    event = {"id": "evt_plan", "type": "plan.created", "data": {"object": {"id": "plan_1", "object": "plan"}}}
    assert provider.webhooks.deliver(event) == [200]
    assert stored(event) == []


@pytest.mark.parametrize("members", [{"account": "acct_1partner"}, {"livemode": True}])
def test_an_event_of_a_connected_account_or_of_the_other_mode_is_answered_and_forgotten(
    payer: Payer, provider: FakeStripe, begun: Checkout, members: dict[str, Any]
) -> None:
    """Whoever is connected may name our transactions in the metadata of what they sell."""
    before = len(provider.requests)
    event = completed(provider) | members
    assert provider.webhooks.deliver(event) == [200]
    assert (stored(event), len(provider.requests), status(begun)) == ([], before, "open")


def test_a_payment_of_somebody_elses_is_looked_at_once(payer: Payer, provider: FakeStripe) -> None:
    """The account may sell other things than top-ups."""
    with provider.store.lock:
        intent = provider.payments.begin(amount=100, currency="usd", live=False, customer=None, metadata={})
        provider.payments.settle(intent)
    provider.webhooks.flush()
    [event] = provider.events_of("payment_intent.succeeded")
    [row] = stored(event)
    assert (row.checkout_id, row.handled_at is not None) == (None, True)


def test_without_a_secret_no_event_is_taken(
    payer: Payer, provider: FakeStripe, begun: Checkout, settings: Settings
) -> None:
    settings.STRIPE_WEBHOOK_SECRET = []
    event = completed(provider)
    body, _ = provider.webhooks.signed(event)
    for secret in ("whsec_standin", ""):
        answer = send(payer, body, provider.webhooks.signature(body, secret=secret))
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "integration_unavailable")
    assert stored(event) == []


def test_only_post(payer: Payer) -> None:
    assert payer.client.get(payer.origin + PATH).status_code == 405


@pytest.mark.parametrize("preset", ["error", "unauthorized", "garbage", "drop-request"])
def test_an_event_waits_while_the_provider_is_unavailable(
    payer: Payer, provider: FakeStripe, begun: Checkout, preset: str
) -> None:
    provider.script(preset, path="/v1/checkout/sessions/*", times=2)
    event = completed(provider)
    assert provider.webhooks.deliver(event) == [200]
    [row] = stored(event)
    assert (row.handled_at, payer.money) == (None, (0, 0, 0))
    provider.api.scripts.clear()
    reconcile()
    row.refresh_from_db()
    assert row.handled_at is not None
    assert payer.money == (5 * USD, 0, 0)


def test_an_event_about_a_transaction_that_was_never_opened_opens_it(payer: Payer, provider: FakeStripe) -> None:
    """The answer with the session was lost, and still somebody paid."""
    provider.webhooks.hold()
    provider.script("drop-answer", path="/v1/checkout/sessions", times=2)
    assert payer.ask(key="one").status_code == 503
    [session] = provider.sessions
    provider.pay(session["id"])
    provider.webhooks.deliver(completed(provider))
    assert payer.money == (5 * USD, 0, 0)
    [checkout] = Checkout.objects.filter(owner_key=payer.owner[1])
    assert (checkout.status, checkout.session_ref) == ("paid", session["id"])


def test_a_refund_reported_before_the_payment_is_booked_after_it(
    payer: Payer, provider: FakeStripe, begun: Checkout
) -> None:
    provider.refund(str(begun.session_ref), amount=200)
    [event] = provider.events_of("charge.refunded")
    provider.webhooks.deliver(event)
    assert payer.money == (3 * USD, 0, 0)
    provider.webhooks.deliver(completed(provider))
    assert payer.money == (3 * USD, 0, 0)
    begun.refresh_from_db()
    assert (begun.taken_back_microusd, begun.movements) == (2 * USD, 1)
