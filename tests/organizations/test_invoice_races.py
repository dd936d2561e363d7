"""An invoice that the job, a person, an operator and the provider's event reach for at once: charged and ended once."""

import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from billing.models import CreditNote, InvoicePayment
from billing.operations import checkouts, events, invoice_events, invoice_payments, invoices
from billing.operations.invoices import NotCorrectable
from billing.queries import audit, locked, wallets
from gateway.core.contract.ids import new_id
from organizations.operations import seat_invoices
from tests.factories.events import types
from tests.organizations.tenant import LAST_MONTH, PRICE, Tenant
from tests.support.concurrency import PATIENCE_SECONDS, at_once, count, eventually
from tests.support.database import connect
from tests.support.stripe import FakeStripe

pytestmark = pytest.mark.django_db(transaction=True)

INTENTS = "/v1/payment_intents"
WAITING = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
METHOD = "/v1/checkout/sessions/*"
TOTAL = 2 * PRICE


@pytest.fixture
def tenant(provider: FakeStripe) -> Iterator[Tenant]:
    """An organization with an unpaid issued invoice. The ledger is audited after the test."""
    tenant = Tenant(provider)
    seat_invoices.draft_all(now=tenant.now)
    invoices.issue_all(since=LAST_MONTH[0], now=tenant.now)
    yield tenant
    assert audit.findings() == []


def collect(tenant: Tenant) -> int:
    return invoice_payments.collect(now=timezone.now())


def follow(tenant: Tenant) -> int:
    return invoice_payments.follow(now=timezone.now())


def pay_now(tenant: Tenant) -> str | None:
    payment = seat_invoices.pay_now(org_id=tenant.id, invoice_id=tenant.invoice.pk, actor_did=tenant.owner.did)
    return None if payment is None else payment.status


def void(tenant: Tenant) -> str:
    try:
        invoices.void(tenant.invoice.pk, reason="Wrong price", now=timezone.now())
    except NotCorrectable as refusal:
        return str(refusal)
    return "void"


def credit(tenant: Tenant, amount: int, note_id: str = "", give: Callable[..., CreditNote] = invoices.credit) -> str:
    terms = {"amount_microusd": amount, "reason": "r", "actor": "did:op", "note_id": note_id or new_id("cn")}
    try:
        return give(tenant.invoice.pk, now=timezone.now(), **terms).pk
    except NotCorrectable as refusal:
        return str(refusal)


def record_refund(tenant: Tenant, amount: int) -> str:
    return credit(tenant, amount, give=invoices.record_refund)


def deliver(tenant: Tenant, event: Any) -> bool:
    """Receive and process a signed event as a worker does."""
    body, headers = tenant.provider.webhooks.signed(event)
    stored = events.receive(body, headers["Stripe-Signature"], now=timezone.now())
    if stored is not None:
        events.handle(stored, now=timezone.now())
    return stored is not None


def race(*calls: Callable[[Tenant], Any], tenant: Tenant) -> list[Any]:
    return at_once(*(partial(call, tenant) for call in calls))


@pytest.mark.parametrize("slow", [METHOD, INTENTS])
def test_the_job_and_two_people_charge_once(tenant: Tenant, slow: str) -> None:
    tenant.save_method()
    tenant.provider.script(path=slow, times=6, delay_seconds=0.2)  # all are in progress before one ends
    race(collect, collect, pay_now, pay_now, tenant=tenant)
    assert (tenant.invoice.status, tenant.outcomes) == ("paid", ["succeeded"])
    assert len(tenant.provider.charges) == 1


def test_people_at_once_cannot_try_a_card_more_often_than_one(tenant: Tenant) -> None:
    """All read the clock before the first attempt exists, and the others charge after it has failed."""
    tenant.save_method("card_declined")
    look, meeting, turn = invoice_payments._saved_method, threading.Barrier(4), threading.Lock()

    def look_and_wait(*arguments: Any) -> Any:
        found = look(*arguments)
        meeting.wait(PATIENCE_SECONDS)
        if not turn.acquire(blocking=False):
            eventually(lambda: tenant.outcomes == ["card_declined"])
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(invoice_payments, "_saved_method", look_and_wait)
        results = race(pay_now, pay_now, pay_now, pay_now, tenant=tenant)
    assert (results.count("failed"), count(results, "rate_limited")) == (1, 3)
    assert tenant.outcomes == ["card_declined"]


def test_the_job_does_not_repeat_a_persons_recent_attempt(tenant: Tenant) -> None:
    tenant.save_method("card_declined")
    tenant.provider.script(path=METHOD, times=1, delay_seconds=1.5)

    before = len(tenant.provider.requests)

    def pay_meanwhile(tenant: Tenant) -> str | None:
        eventually(lambda: len(tenant.provider.requests) > before)
        return pay_now(tenant)

    race(collect, pay_meanwhile, tenant=tenant)
    assert tenant.outcomes == ["card_declined"]


def test_a_method_that_is_saved_while_the_job_finds_none_is_charged_by_the_next_run(tenant: Tenant) -> None:
    """The job that finds no overdue invoice must not undo the other's flag."""
    look = invoice_payments._saved_method

    def look_and_be_overtaken(*arguments: Any) -> Any:
        found = look(*arguments)
        tenant.save_method()
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(invoice_payments, "_saved_method", look_and_be_overtaken)
        collect(tenant)
    collect(tenant)
    assert (tenant.invoice.status, tenant.outcomes) == ("paid", ["succeeded"])


def test_a_payment_that_saves_its_method_waits_for_an_invoice_before_it_records_anything(tenant: Tenant) -> None:
    """Who holds the invoice takes the counter of the organization's events after it."""
    checkout = checkouts.begin_and_place(
        ("organization", tenant.id),
        now=tenant.now,
        kind="top_up",
        amount_microusd=PRICE,
        product=None,
        idempotency_key=new_id("key"),
        requested_by=tenant.owner.did,
        saves_method=True,
    )
    tenant.provider.pay(str(checkout.session_ref))
    is_held = threading.Event()

    def end_its_charge(tenant: Tenant) -> None:
        with transaction.atomic():
            invoice = locked.invoice(tenant.invoice.pk)
            is_held.set()
            eventually(_somebody_waits)
            invoice_events.past_due(invoice, tenant.now)

    def take_the_payment(tenant: Tenant) -> str:
        is_held.wait(PATIENCE_SECONDS)
        return checkouts.converge(checkout, now=tenant.now).status

    assert race(end_its_charge, take_the_payment, tenant=tenant)[1] == "paid"
    assert types(tenant.id, "invoice", "wallet") == ["invoice.issued", "invoice.past_due", "wallet.credited"]


def _somebody_waits() -> bool:
    with connect(autocommit=True) as watcher:  # in a transaction, it would see the same again and again
        return bool(watcher.execute(WAITING).fetchall())


@pytest.mark.parametrize("slow", [METHOD, INTENTS])
def test_an_invoice_is_void_or_paid(tenant: Tenant, slow: str) -> None:
    tenant.save_method()
    tenant.provider.script(path=slow, times=6, delay_seconds=0.2)
    results = race(void, collect, pay_now, void, tenant=tenant)
    if "void" in results:
        assert (tenant.invoice.status, tenant.provider.charges, tenant.attempts) == ("void", [], [])
    else:
        assert (tenant.invoice.status, len(tenant.provider.charges), tenant.outcomes) == ("paid", 1, ["succeeded"])


def test_events_jobs_and_people_book_a_late_charge_once(tenant: Tenant) -> None:
    tenant.save_method("takes_its_time")
    collect(tenant)
    [attempt] = tenant.attempts
    tenant.provider.end_charge(str(attempt.payment_ref))
    InvoicePayment.objects.filter(pk=attempt.pk).update(next_check_at=timezone.now())
    delivered = tenant.provider.events_of("payment_intent.succeeded", "charge.succeeded", "payment_intent.created")
    deliveries = [partial(deliver, event=event) for event in [*reversed(delivered), *delivered]]
    results = race(*deliveries, follow, collect, pay_now, void, tenant=tenant)
    assert results[: len(deliveries)].count(True) == len(delivered)
    assert results[-1] != "void"
    assert (tenant.invoice.status, tenant.outcomes) == ("paid", ["succeeded"])
    assert len(tenant.provider.charges) == 1


def test_concurrent_credit_notes_return_at_most_the_paid_amount(tenant: Tenant) -> None:
    tenant.save_method()
    collect(tenant)
    note = new_id("cn")
    calls = [partial(credit, amount=TOTAL // 2 + 1) for _ in range(3)]
    calls += [partial(credit, amount=TOTAL // 4, note_id=note) for _ in range(3)]
    results = race(*calls, void, tenant=tenant)
    assert sum(str(result).startswith("cn_") for result in results[:3]) == 1
    assert results[3:6] == [note] * 3
    assert sorted(CreditNote.objects.values_list("serial", flat=True)) == [1, 2]
    assert wallets.view(("organization", tenant.id), timezone.now()).credits_microusd == TOTAL // 2 + 1 + TOTAL // 4
    assert tenant.invoice.status == "paid"


def test_concurrent_credits_and_refunds_return_at_most_the_paid_amount(tenant: Tenant) -> None:
    tenant.save_method()
    collect(tenant)
    calls = [partial(credit, amount=TOTAL // 2 + 10_000), partial(record_refund, amount=TOTAL // 2 + 10_000)] * 2
    results = race(*calls, tenant=tenant)
    assert sum(str(result).startswith("cn_") for result in results) == 1
    assert CreditNote.objects.get().amount_microusd == TOTAL // 2 + 10_000


def test_a_charge_in_review_that_becomes_right_while_it_is_made_void_ends_once(tenant: Tenant) -> None:
    tenant.save_method("takes_its_time")
    collect(tenant)
    [attempt] = tenant.attempts
    tenant.provider.amend(str(attempt.payment_ref), amount=1)
    invoice_payments.converge(attempt, now=timezone.now())
    tenant.provider.amend(str(attempt.payment_ref), amount=TOTAL // 10_000)
    tenant.provider.end_charge(str(attempt.payment_ref))
    [event] = tenant.provider.events_of("payment_intent.succeeded")
    results = race(void, partial(deliver, event=event), void, tenant=tenant)
    expected = ("void", ["review"]) if "void" in results else ("paid", ["succeeded"])
    assert (tenant.invoice.status, tenant.outcomes) == expected
