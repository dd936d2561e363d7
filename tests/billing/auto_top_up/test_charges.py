"""Charges of automatic top-up: exactly once, whatever the provider, the bank and its webhooks do."""

import logging
from datetime import timedelta

import pytest
from django.utils import timezone

from billing.models import AutoTopUp, Checkout, PaymentDifference, ProviderEvent
from billing.operations import (
    auto_top_up_bookings,
    auto_top_up_charges,
    auto_top_ups,
    events,
    payment_matching,
    reconciliation,
)
from billing.operations.auto_top_up_charges import MAY_ARRIVE
from billing.queries import audit
from billing.rules.charges import KEY_LIFETIME
from billing.rules.months import month_around
from gateway.core.contract.errors import RateLimited
from tests.billing.auto_top_up.saver import INTENTS, MINUTE, USD, Saver

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)
PAGE = "https://gateway.example/wallet/auto-top-up"


def test_a_wallet_below_its_threshold_is_charged_once(saver: Saver) -> None:
    method = saver.save_method()
    saver.enable()
    saver.spend(4 * USD)
    assert saver.run() == {}
    saver.spend(2 * USD)
    saver.spend(1 * USD)
    assert saver.run() == {"succeeded": 1}
    assert saver.run() == {}
    [charge] = saver.charges
    [made] = [one for one in saver.provider.charges if one["customer"]]
    assert (made["amount"], made["payment_method"]) == (2000, method)
    [request] = [one for one in saver.provider.requests if (one.method, one.path) == ("POST", INTENTS)]
    assert request.idempotency_key == charge.pk
    assert (request.params["off_session"], request.params["confirm"]) == ("true", "true")
    assert (saver.balance, saver.booked, saver.events) == (23, [20], ["charged"])
    checkout = Checkout.objects.get(pk=charge.pk)
    assert (checkout.status, checkout.amount_microusd, checkout.requested_by) == ("paid", 20 * USD, saver.did)
    assert saver.told == {
        "did": saver.did,
        "amountMicrousd": 20 * USD,
        "transactionId": charge.pk,
        "url": PAGE,
    }


def test_enabling_it_below_the_threshold_begins_one(saver: Saver) -> None:
    saver.save_method()
    saver.spend(9 * USD)
    saver.enable()
    assert saver.run() == {"succeeded": 1}
    assert saver.balance == 21


def test_a_wallet_that_one_charge_does_not_fill_is_charged_again_until_the_month_is_full(saver: Saver) -> None:
    saver.save_method()
    saver.enable(threshold_microusd=60 * USD, amount_microusd=20 * USD, monthly_limit_microusd=50 * USD)
    assert [saver.run() for _ in range(4)] == [{"succeeded": 1}, {"succeeded": 1}, {}, {}]
    assert (saver.balance, saver.paid) == (50, [20, 20])


def test_credits_count_until_they_expire(saver: Saver) -> None:
    saver.save_method()
    lot = saver.purse.grant(50 * USD, expires_at=saver.now + DAY)
    assert lot
    saver.enable()
    saver.spend(10 * USD)
    assert (saver.run(), saver.charges) == ({}, [])


@pytest.mark.parametrize("preset", ["drop-request", "drop-answer", "error", "error-after-work", "garbage", "empty"])
def test_an_answer_that_is_lost_is_found_again_and_charged_once(saver: Saver, preset: str) -> None:
    saver.save_method()
    saver.spend(6 * USD)
    saver.enable()
    saver.provider.script(preset, method="POST", path=INTENTS)
    assert saver.run() == {}
    assert (saver.outcomes, saver.booked) == (["sending"], [])
    assert saver.run() == {}
    assert saver.run(MINUTE) == {"succeeded": 1}
    assert (saver.paid, saver.booked, saver.balance) == ([20], [20], 24)


@pytest.mark.parametrize(("preset", "charged"), [("drop-request", 0), ("drop-answer", 1)])
def test_a_request_is_not_repeated_once_its_key_may_be_forgotten(saver: Saver, preset: str, charged: int) -> None:
    saver.save_method()
    saver.spend(6 * USD)
    saver.enable()
    saver.provider.script(preset, method="POST", path=INTENTS)
    saver.run()
    saver.provider.api.idempotency.forget()
    saver.run(KEY_LIFETIME + MINUTE)
    saver.run(MAY_ARRIVE)
    assert len(saver.paid) == charged
    assert saver.outcomes == (["succeeded"] if charged else ["never_made"])
    assert saver.state == "ready"


def test_while_the_provider_is_away_nothing_is_sent(saver: Saver) -> None:
    saver.save_method()
    saver.spend(6 * USD)
    saver.enable()
    saver.provider.script("unavailable", times=2)
    assert saver.run() == {}
    assert saver.outcomes == ["waiting"]
    assert saver.run(MINUTE) == {"succeeded": 1}
    assert (saver.paid, saver.balance) == ([20], 24)


@pytest.mark.parametrize("code", ["card_declined", "insufficient_funds", "expired_card"])
def test_a_refusal_pauses_and_tells(saver: Saver, code: str) -> None:
    method = saver.save_method(code)
    saver.spend(6 * USD)
    saver.enable()
    assert saver.run() == {"failed": 1}
    assert (saver.state, saver.outcomes, saver.events) == ("paused", [code], ["paused"])
    assert saver.told["reason"] == code
    saver.spend(USD)
    saver.run(DAY)
    assert saver.outcomes == [code]
    saver.provider.answer_charges(method, "succeeds")
    saver.enable()
    assert saver.run() == {"succeeded": 1}
    assert (saver.state, saver.events, saver.paid) == ("ready", ["paused", "charged"], [20])


def test_turning_it_off_while_a_charge_is_refused_does_not_shorten_the_minute(saver: Saver) -> None:
    saver.save_method("card_declined")
    saver.spend(6 * USD)
    saver.enable()
    saver.provider.script("drop-answer", method="POST", path=INTENTS)
    saver.run()
    saver.enable(is_enabled=False)
    assert saver.run(MINUTE) == {"failed": 1}
    with pytest.raises(RateLimited):
        saver.enable()
    assert (saver.state, saver.outcomes) == ("off", ["card_declined"])
    saver.now += MINUTE
    saver.enable()
    assert saver.outcomes == ["card_declined", "waiting"]


def test_saving_another_method_ends_the_pause_of_a_refusal(saver: Saver) -> None:
    saver.save_method("card_declined")
    saver.spend(6 * USD)
    saver.enable()
    saver.run()
    again = saver.save_method()
    assert saver.run() == {"succeeded": 1}
    [charge] = [one for one in saver.provider.charges if one["customer"]]
    assert (charge["payment_method"], saver.state) == (again, "ready")


def test_a_bank_that_wants_the_person_is_not_asked_again_blindly(saver: Saver) -> None:
    saver.save_method("authentication_required")
    saver.spend(6 * USD)
    saver.enable()
    saver.run()
    assert (saver.state, saver.events) == ("paused", ["action_required"])
    assert saver.told["url"] == PAGE
    saver.run(DAY)
    assert saver.outcomes == ["authentication_required"]
    checkout = saver.begin("top_up", 20 * USD, saves_method=True)
    saver.provider.pay(str(checkout.session_ref))
    reconciliation.reconcile(now=saver.now + DAY)
    assert (saver.state, saver.balance) == ("ready", 24)
    saver.spend(20 * USD)
    saver.run()
    assert (saver.outcomes[1:], saver.balance) == (["succeeded"], 24)


@pytest.mark.parametrize("refused", ["", "card_declined"])
def test_a_bank_that_takes_its_time_is_followed(saver: Saver, refused: str) -> None:
    saver.save_method("takes_its_time")
    saver.spend(6 * USD)
    saver.enable()
    saver.run()
    saver.spend(USD)
    saver.run(10 * DAY)
    assert saver.outcomes == ["processing"]
    [charge] = saver.charges
    saver.provider.end_charge(str(charge.payment_ref), refused=refused)
    saver.run(DAY)
    assert saver.outcomes[0] == (refused or "succeeded")
    assert saver.booked == ([] if refused else [20])


@pytest.mark.parametrize("status", ["requires_confirmation", "requires_payment_method"])
def test_a_charge_that_is_seen_before_the_bank_has_answered_is_not_refused(saver: Saver, status: str) -> None:
    saver.save_method("takes_its_time")
    saver.spend(6 * USD)
    saver.enable()
    saver.provider.script("drop-answer", method="POST", path=INTENTS)
    saver.run()
    event = saver.provider.events_of("payment_intent.created")[-1]
    intent = event["data"]["object"]["id"]
    saver.provider.amend(intent, status=status)
    body, headers = saver.provider.webhooks.signed(event)
    stored = events.receive(body, headers["Stripe-Signature"], now=timezone.now())
    assert stored is not None
    events.handle(stored, now=saver.now)
    saver.run(MINUTE)
    assert (saver.outcomes, saver.state, saver.events) == (["processing"], "ready", [])
    saver.provider.end_charge(intent)
    assert saver.run(2 * MINUTE) == {"succeeded": 1}
    assert (saver.paid, saver.booked, saver.events) == ([20], [20], ["charged"])


def test_a_charge_that_the_provider_never_brings_to_the_bank_is_given_up(saver: Saver) -> None:
    saver.save_method("takes_its_time")
    saver.spend(6 * USD)
    saver.enable()
    saver.run()
    [charge] = saver.charges
    saver.provider.amend(str(charge.payment_ref), status="requires_confirmation")
    assert saver.run(MAY_ARRIVE) == {"failed": 1}
    assert (saver.outcomes, saver.state, saver.booked) == (["requires_confirmation"], "paused", [])


@pytest.mark.parametrize(
    "member", [{"amount": 1999}, {"currency": "eur"}, {"livemode": True}, {"amount_received": 1}, {"metadata": {}}]
)
def test_a_record_of_something_else_brings_nothing(
    saver: Saver, member: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    saver.save_method("takes_its_time")
    saver.spend(6 * USD)
    saver.enable()
    saver.run()
    [charge] = saver.charges
    intent = str(charge.payment_ref)
    honest = saver.provider.end_charge(intent) and saver.provider.get(intent)
    saver.provider.amend(intent, **member)
    with caplog.at_level(logging.CRITICAL):
        saver.run(MINUTE)
    assert (saver.outcomes, saver.booked, saver.balance) == (["review"], [], 4)
    assert charge.pk in caplog.text
    saver.provider.amend(intent, **{name: honest[name] for name in member})
    saver.run(DAY)
    assert (saver.outcomes, saver.booked) == (["succeeded"], [20])


def test_a_charge_in_review_can_be_dismissed_once_and_pauses_until_an_operator_resumes(saver: Saver) -> None:
    saver.save_method("takes_its_time")
    saver.spend(6 * USD)
    saver.enable()
    saver.run()
    [charge] = saver.charges
    intent = str(charge.payment_ref)
    honest = saver.provider.end_charge(intent) and saver.provider.get(intent)
    assert not auto_top_up_bookings.dismiss(charge.pk, now=saver.now)
    saver.provider.amend(intent, amount=1999)
    saver.run(MINUTE)
    assert auto_top_up_bookings.dismiss(charge.pk, now=saver.now)
    assert not auto_top_up_bookings.dismiss(charge.pk, now=saver.now)
    saver.run(DAY)
    assert (saver.outcomes, saver.booked, saver.balance) == (["dismissed"], [], 4)
    assert AutoTopUp.objects.get().pause_reason == "operator"
    assert audit.findings() == []
    saver.provider.amend(intent, amount=honest["amount"])
    auto_top_up_charges.converge(saver.charges[0], now=saver.now)
    assert (saver.outcomes, saver.booked) == (["succeeded"], [20])
    assert audit.findings() == []


def test_events_in_any_order_twice_and_late_book_once(saver: Saver) -> None:
    saver.save_method("takes_its_time")
    saver.spend(6 * USD)
    saver.enable()
    saver.run()
    [charge] = saver.charges
    saver.provider.end_charge(str(charge.payment_ref))
    delivered = saver.provider.events_of("payment_intent.succeeded", "charge.succeeded", "payment_intent.created")
    for event in [*reversed(delivered), *delivered]:
        body, headers = saver.provider.webhooks.signed(event)
        stored = events.receive(body, headers["Stripe-Signature"], now=timezone.now())
        if stored:
            events.handle(stored, now=saver.now)
    assert (saver.outcomes, saver.booked, saver.events) == (["succeeded"], [20], ["charged"])
    assert not ProviderEvent.objects.filter(handled_at=None).exists()


def test_a_charge_that_is_paid_after_it_was_refused_is_booked(saver: Saver) -> None:
    saver.save_method("card_declined")
    saver.spend(6 * USD)
    saver.enable()
    saver.run()
    [charge] = saver.charges
    saver.provider.end_charge(str(charge.payment_ref))
    [event] = saver.provider.events_of("payment_intent.succeeded")[-1:]
    body, headers = saver.provider.webhooks.signed(event)
    stored = events.receive(body, headers["Stripe-Signature"], now=timezone.now())
    assert stored is not None
    events.handle(stored, now=saver.now)
    assert (saver.outcomes, saver.booked, saver.state) == (["succeeded"], [20], "paused")


@pytest.mark.parametrize("how", ["refund", "dispute"])
def test_what_is_taken_back_is_booked_as_of_others_and_not_charged_again(saver: Saver, how: str) -> None:
    saver.save_method()
    saver.spend(6 * USD)
    saver.enable()
    saver.run()
    [charge] = saver.charges
    getattr(saver.provider, how)(str(charge.payment_ref), amount=1900)
    reconciliation.reconcile(now=saver.now + DAY)
    assert (saver.balance, saver.state, saver.told["reason"]) == (5, "paused", "payment_taken_back")
    assert Checkout.objects.get(pk=charge.pk).taken_back_microusd == 19 * USD
    saver.spend(USD)
    saver.run(DAY)
    assert saver.paid == [20]


def test_a_dispute_of_what_is_spent_leaves_a_debt_and_no_charge(saver: Saver) -> None:
    saver.save_method()
    saver.spend(6 * USD)
    saver.enable()
    saver.run()
    saver.spend(18 * USD)
    [charge] = saver.charges
    dispute = saver.provider.dispute(str(charge.payment_ref))
    reconciliation.reconcile(now=saver.now + DAY)
    assert (saver.purse.wallet.debt_microusd, saver.run(DAY)) == (14 * USD, {})
    saver.provider.end_dispute(dispute["id"], "won")
    reconciliation.reconcile(now=saver.now + 3 * DAY)
    assert (saver.purse.wallet.debt_microusd, saver.balance) == (0, 6)


def test_the_providers_balance_agrees_with_what_was_charged(saver: Saver) -> None:
    saver.save_method()
    saver.spend(6 * USD)
    saver.enable()
    saver.provider.script("drop-answer", method="POST", path=INTENTS)
    saver.run()
    assert saver.outcomes == ["sending"]
    Checkout.objects.filter(amount_microusd=10 * USD).update(provider="elsewhere")
    found = payment_matching.match(now=timezone.now() + 4 * DAY)
    assert (found["movements"], found["differences"]) == (1, 0)
    assert (saver.outcomes, saver.booked) == (["succeeded"], [20])


def test_a_second_payment_of_a_charge_is_found_by_matching(saver: Saver) -> None:
    saver.save_method()
    saver.spend(6 * USD)
    saver.enable()
    saver.run()
    [charge] = saver.charges
    saver.provider.sell(2000, metadata={"transaction_id": charge.pk})
    Checkout.objects.filter(amount_microusd=10 * USD).update(provider="elsewhere")
    assert payment_matching.match(now=timezone.now() + 4 * DAY)["differences"] == 1
    [found] = PaymentDifference.objects.all()
    assert (found.transaction_id, found.their_paid_microusd, found.our_paid_microusd) == (charge.pk, 40 * USD, 20 * USD)


def test_a_month_counts_what_is_under_way_and_not_what_was_refused(saver: Saver) -> None:
    saver.save_method("takes_its_time")
    saver.spend(6 * USD)
    saver.enable(monthly_limit_microusd=20 * USD)
    saver.run()
    [charge] = saver.charges
    saver.provider.end_charge(str(charge.payment_ref), refused="card_declined")
    saver.run(DAY)
    saver.save_method()
    saver.run()
    assert saver.paid == [20]
    saver.spend(20 * USD)
    saver.run()
    assert saver.paid == [20]
    next_month = month_around(saver.now)[1]
    assert auto_top_ups.begin_missed(now=next_month - timedelta(seconds=1)) == 0
    assert auto_top_ups.begin_missed(now=next_month) == 1
    saver.now = next_month
    saver.run()
    assert saver.paid == [20, 20]
