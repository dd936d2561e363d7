"""Off-session charges of the saved payment method."""

import logging
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from billing.models import Checkout, ProviderEvent
from billing.operations import events, invoice_payments, invoices
from billing.rules.charges import KEY_LIFETIME
from billing.rules.invoices import PUT_OFF
from gateway.core.contract.errors import BillingPastDue
from organizations.operations import seat_invoices
from tests.organizations.tenant import Tenant, state

pytestmark = pytest.mark.django_db

DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
INTENTS = "/v1/payment_intents"


def test_an_invoice_is_charged_exactly_once(tenant: Tenant) -> None:
    method = tenant.save_method()
    for _ in range(3):
        tenant.run()
    assert state(tenant) == ("paid", False)
    [charge] = tenant.provider.charges
    assert (charge["amount"], charge["payment_method"]) == (4000, method)
    [request] = [one for one in tenant.provider.requests if (one.method, one.path) == ("POST", INTENTS)]
    [attempt] = tenant.attempts
    assert request.idempotency_key == attempt.pk
    assert (request.params["off_session"], request.params["confirm"]) == ("true", "true")
    assert attempt.payment_ref == charge["payment_intent"]


def test_without_a_payment_method_it_is_past_due_after_a_week(tenant: Tenant) -> None:
    tenant.run()
    tenant.run(7 * DAY - MINUTE)
    assert state(tenant) == ("open", False)
    tenant.run(MINUTE)
    assert state(tenant) == ("past_due", True)
    tenant.save_method()
    tenant.run()
    assert state(tenant) == ("paid", False)


def test_a_past_due_organization_gets_no_more_seats_and_keeps_those_it_has(tenant: Tenant) -> None:
    tenant.save_method("card_declined")
    tenant.run()
    with pytest.raises(BillingPastDue):
        tenant.assign("newcomer")
    assert tenant.assign("olivia0").is_assigned
    tenant.save_method()
    tenant.run()
    assert tenant.assign("newcomer").is_assigned


def test_a_refused_charge_is_repeated_after_days_and_then_left(tenant: Tenant) -> None:
    tenant.save_method("insufficient_funds")
    tenant.run()
    assert state(tenant) == ("past_due", True)
    for failures, days in enumerate((1, 3, 5, 7), start=1):
        tenant.run(days * DAY - MINUTE)
        assert len(tenant.attempts) == failures
        tenant.run(MINUTE)
        assert len(tenant.attempts) == failures + 1
    assert tenant.invoice.next_attempt_at is None
    assert tenant.outcomes == ["insufficient_funds"] * 5
    assert tenant.provider.charges == []


def test_a_charge_that_is_paid_on_the_second_try(tenant: Tenant) -> None:
    method = tenant.save_method("card_declined")
    tenant.run()
    tenant.provider.answer_charges(method, "succeeds")
    tenant.run(DAY)
    assert (state(tenant), tenant.outcomes) == (("paid", False), ["card_declined", "succeeded"])
    assert len(tenant.provider.charges) == 1


def test_a_bank_that_asks_for_the_customer_is_paid_once_the_method_is_saved_again(tenant: Tenant) -> None:
    tenant.save_method("authentication_required")
    tenant.run()
    assert (state(tenant), tenant.outcomes) == (("past_due", True), ["authentication_required"])
    again = tenant.save_method()
    tenant.run()
    assert (state(tenant), tenant.outcomes) == (("paid", False), ["authentication_required", "succeeded"])
    assert [charge["payment_method"] for charge in tenant.provider.charges] == [again]


@pytest.mark.parametrize("refused", ["", "card_declined"])
def test_a_bank_that_takes_its_time_is_followed(tenant: Tenant, refused: str) -> None:
    tenant.save_method("takes_its_time")
    tenant.run()
    tenant.run(10 * DAY)
    assert (state(tenant), tenant.outcomes) == (("open", False), ["processing"])
    [attempt] = tenant.attempts
    tenant.provider.end_charge(str(attempt.payment_ref), refused=refused)
    tenant.run(DAY)
    assert tenant.outcomes[0] == (refused or "succeeded")
    assert tenant.invoice.status == ("past_due" if refused else "paid")


def test_a_method_that_is_saved_while_the_last_charge_is_under_way_is_charged_when_that_is_refused(
    tenant: Tenant,
) -> None:
    method = tenant.save_method("card_declined")
    for days in (0, 1, 3, 5):
        tenant.run(days * DAY)
    tenant.provider.answer_charges(method, "takes_its_time")
    tenant.run(7 * DAY)
    tenant.save_method()
    tenant.provider.end_charge(str(tenant.attempts[-1].payment_ref), refused="card_declined")
    tenant.run(DAY)
    assert (tenant.invoice.status, tenant.outcomes) == ("paid", ["card_declined"] * 5 + ["succeeded"])


def test_an_invoice_that_cannot_be_collected_is_not_in_the_way_of_others(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(invoice_payments, "ROWS_MAX", 1)
    tenant.save_method()
    other = Tenant(tenant.provider, "oscar")
    other.save_method()
    seat_invoices.draft_all(now=tenant.now)
    for each, minutes in ((tenant, 0), (other, 1)):
        invoices.issue(each.invoice.pk, now=tenant.now + minutes * MINUTE)
    saved = Checkout.objects.get(owner_key=tenant.id)
    tenant.provider.script("forbidden", path=f"/v1/checkout/sessions/{saved.session_ref}")
    for minutes in (2, 3):
        invoice_payments.collect(now=tenant.now + minutes * MINUTE)
    assert (tenant.invoice.status, other.invoice.status) == ("open", "paid")
    invoice_payments.collect(now=tenant.now + PUT_OFF + 2 * MINUTE)
    assert tenant.invoice.status == "paid"


@pytest.mark.parametrize("preset", ["drop-request", "drop-answer", "error", "error-after-work", "garbage", "empty"])
def test_an_answer_that_is_lost_is_found_again_and_charged_once(tenant: Tenant, preset: str) -> None:
    tenant.save_method()
    tenant.provider.script(preset, method="POST", path=INTENTS)
    tenant.run()
    assert (state(tenant), tenant.outcomes) == (("open", False), ["creating"])
    tenant.run(MINUTE)
    assert (state(tenant), tenant.outcomes) == (("paid", False), ["succeeded"])
    assert len(tenant.provider.charges) == 1


def test_a_charge_that_is_seen_before_the_bank_has_answered_is_not_refused(tenant: Tenant) -> None:
    tenant.save_method("takes_its_time")
    tenant.run()
    [attempt] = tenant.attempts
    intent = str(attempt.payment_ref)
    tenant.provider.amend(intent, status="requires_confirmation")
    tenant.run(MINUTE)
    assert (state(tenant), tenant.outcomes) == (("open", False), ["processing"])
    tenant.provider.end_charge(intent)
    tenant.run(2 * MINUTE)
    assert (state(tenant), tenant.outcomes) == (("paid", False), ["succeeded"])


@pytest.mark.parametrize(("preset", "charges"), [("drop-request", 0), ("drop-answer", 1)])
def test_a_request_is_not_repeated_once_its_key_may_be_forgotten(tenant: Tenant, preset: str, charges: int) -> None:
    tenant.save_method()
    tenant.provider.script(preset, method="POST", path=INTENTS)
    tenant.run()
    tenant.provider.api.idempotency.forget()
    tenant.run(KEY_LIFETIME + MINUTE)
    assert len(tenant.provider.charges) == charges
    assert tenant.outcomes == (["succeeded"] if charges else ["never_made"])
    tenant.run(DAY)
    assert (tenant.invoice.status, len(tenant.provider.charges)) == ("paid", 1)


def test_a_method_that_the_provider_has_no_more_is_a_failure(tenant: Tenant) -> None:
    method = tenant.save_method()
    tenant.provider.amend(method, customer="cus_other")
    tenant.run()
    assert (state(tenant), tenant.outcomes) == (("past_due", True), ["rejected"])


@pytest.mark.parametrize(
    "member",
    [{"amount": 3999}, {"currency": "eur"}, {"livemode": True}, {"amount_received": 1}, {"metadata": {}}],
)
def test_a_record_of_something_else_pays_nothing(
    tenant: Tenant, member: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    tenant.save_method("takes_its_time")
    tenant.run()
    [attempt] = tenant.attempts
    intent = str(attempt.payment_ref)
    honest = tenant.provider.end_charge(intent) and tenant.provider.get(intent)
    tenant.provider.amend(intent, **member)
    with caplog.at_level(logging.CRITICAL):
        tenant.run(MINUTE)
    assert (tenant.invoice.status, tenant.outcomes) == ("open", ["review"])
    assert attempt.pk in caplog.text
    tenant.provider.amend(intent, **{name: honest[name] for name in member})
    tenant.run(DAY)
    assert (tenant.invoice.status, tenant.outcomes) == ("paid", ["succeeded"])


def test_events_in_any_order_and_twice_pay_once(tenant: Tenant) -> None:
    tenant.save_method("takes_its_time")
    tenant.run()
    [attempt] = tenant.attempts
    tenant.provider.end_charge(str(attempt.payment_ref))
    delivered = tenant.provider.events_of("payment_intent.succeeded", "charge.succeeded", "payment_intent.created")
    for event in [*reversed(delivered), *delivered]:
        body, headers = tenant.provider.webhooks.signed(event)
        stored = events.receive(body, headers["Stripe-Signature"], now=timezone.now())
        if stored:
            events.handle(stored, now=tenant.now)
    assert (tenant.invoice.status, tenant.outcomes) == ("paid", ["succeeded"])
    assert not ProviderEvent.objects.filter(handled_at=None).exists()


def test_a_charge_that_is_paid_after_it_was_refused_is_an_alarm_and_no_other_is_made(
    tenant: Tenant, caplog: pytest.LogCaptureFixture
) -> None:
    tenant.save_method("card_declined")
    tenant.run()
    [attempt] = tenant.attempts
    tenant.provider.end_charge(str(attempt.payment_ref))
    with caplog.at_level(logging.CRITICAL):
        for event in tenant.provider.events_of("charge.failed", "payment_intent.succeeded"):
            hear(tenant, event)
    assert f"{attempt.pk} failed, and was paid after all" in caplog.text
    tenant.run(DAY)
    assert (tenant.invoice.status, tenant.outcomes) == ("past_due", ["card_declined"])


def test_an_attempt_that_was_rejected_is_never_charged_by_an_event(tenant: Tenant) -> None:
    method = tenant.save_method()
    tenant.provider.amend(method, customer="cus_other")
    tenant.run()
    [attempt] = tenant.attempts
    tenant.provider.amend(method, customer=attempt.customer_ref)
    about = {"id": "pi_else", "object": "payment_intent", "metadata": {"transaction_id": attempt.pk}}
    hear(tenant, {"id": "evt_1", "type": "payment_intent.created", "livemode": False, "data": {"object": about}})
    assert (tenant.outcomes, tenant.provider.charges) == (["rejected"], [])


def hear(tenant: Tenant, event: dict[str, Any]) -> None:
    """Receive and process a signed event."""
    body, headers = tenant.provider.webhooks.signed(event)
    stored = events.receive(body, headers["Stripe-Signature"], now=timezone.now())
    assert stored is not None
    events.handle(stored, now=tenant.now)


def test_an_event_that_claims_a_payment_pays_nothing(tenant: Tenant) -> None:
    tenant.save_method("takes_its_time")
    tenant.run()
    [attempt] = tenant.attempts
    claim = {**tenant.provider.events_of("payment_intent.created")[0], "type": "payment_intent.succeeded"}
    claim["data"]["object"]["status"] = "succeeded"
    hear(tenant, {**claim, "id": "evt_claim"})
    assert (tenant.invoice.status, attempt.status) == ("open", "processing")
