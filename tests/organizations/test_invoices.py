"""Invoices of seats over their life: drafted, issued, charged, refused, paid, void, credited."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from billing import tasks as billing_tasks
from billing.models import CreditNote, ExternalMapping, Invoice, ProviderEvent, SeatPrice
from billing.operations import events, invoice_payments, invoices
from billing.operations.invoices import NotCorrectable
from billing.queries import audit, wallets
from billing.rules.invoices import KEY_KEPT
from gateway.core.contract import limits
from gateway.core.contract.errors import BillingPastDue
from gateway.core.contract.ids import new_id
from organizations import tasks
from organizations.models import EntitlementInterval, SeatInterval
from organizations.operations import seat_invoices
from organizations.queries import seat_estimate
from tests.factories import invoicing
from tests.factories.organizations import Team, product
from tests.organizations.tenant import LAST_MONTH, PRICE, Tenant
from tests.organizations.test_api import Api, caller
from tests.support.stripe import FakeStripe

pytestmark = pytest.mark.django_db

DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
INTENTS = "/v1/payment_intents"


@pytest.fixture
def tenant(provider: FakeStripe) -> Iterator[Tenant]:
    """An organization that owes two seats; the money is audited when the test is over."""
    tenant = Tenant(provider)
    yield tenant
    assert audit.findings() == []


@pytest.fixture
def api(client: Client) -> Api:
    return Api(client, caller(scopes=("wallet:read",)))


@contextmanager
def dying() -> Iterator[None]:
    """End a transaction as a process does that dies before its commit."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def state(tenant: Tenant) -> tuple[str, bool]:
    """Return the invoice's status and whether new seats are refused."""
    return tenant.invoice.status, tenant.organization.is_past_due


class TestDrafts:
    """The job that turns months into invoices."""

    def test_the_last_month_is_drafted_once(self, tenant: Tenant) -> None:
        assert [seat_invoices.draft_all(now=tenant.now) for _ in range(3)] == [1, 0, 0]
        invoice = tenant.invoice
        assert (invoice.status, invoice.number, invoice.total_microusd) == ("draft", None, 2 * PRICE)
        [line] = invoice.lines.all()
        days = (LAST_MONTH[1] - LAST_MONTH[0]).days
        assert (line.product, line.price_microusd, line.seat_days) == ("studio", PRICE, 2 * days)

    def test_a_month_is_not_drafted_in_its_first_hour_past(self, tenant: Tenant) -> None:
        assert seat_invoices.draft_all(now=LAST_MONTH[1] + timedelta(minutes=59)) == 0
        assert seat_invoices.draft_all(now=LAST_MONTH[1] + timedelta(minutes=60)) == 1

    def test_a_job_that_dies_within_a_draft_leaves_none(self, tenant: Tenant) -> None:
        with dying():
            seat_invoices.draft(tenant.id, LAST_MONTH[0], now=tenant.now)
        assert not Invoice.objects.exists()
        assert seat_invoices.draft_all(now=tenant.now) == 1

    def test_one_organization_that_cannot_be_billed_delays_no_other(
        self, tenant: Tenant, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        other = Tenant(tenant.provider, "oscar")
        draft = seat_invoices.draft

        def fail(org_id: str, *args: object, **given: object) -> bool:
            if org_id == tenant.id:
                raise ValueError("a fault in the machine")
            return draft(org_id, *args, **given)  # type: ignore[arg-type]

        monkeypatch.setattr(seat_invoices, "draft", fail)
        with caplog.at_level(logging.ERROR):
            assert seat_invoices.draft_all(now=tenant.now) == 1
        assert other.invoice.status == "draft"
        assert tenant.id in caplog.text

    def test_collection_is_off_unless_it_is_set(self, tenant: Tenant, settings: Settings) -> None:
        tenant.save_method()
        assert settings.SEAT_COLLECTION_FROM is None
        for _ in range(2):
            tasks.bill_seats()
            billing_tasks.collect_invoices()
            tasks.follow_debts()
        assert state(tenant) == ("draft", False)
        assert tenant.provider.charges == []

    def test_the_jobs_bill_and_collect_once_it_is_set(self, tenant: Tenant, settings: Settings) -> None:
        tenant.save_method()
        settings.SEAT_COLLECTION_FROM = LAST_MONTH[0]
        for _ in range(2):
            tasks.bill_seats()
            billing_tasks.collect_invoices()
        assert state(tenant) == ("paid", False)
        assert len(tenant.provider.charges) == 1

    def test_months_before_collection_began_stay_drafts(self, tenant: Tenant, settings: Settings) -> None:
        settings.SEAT_COLLECTION_FROM = LAST_MONTH[1]
        tenant.save_method()
        tasks.bill_seats()
        billing_tasks.collect_invoices()
        assert tenant.invoice.status == "draft"

    def test_nobody_is_past_due_once_collection_is_off_again(self, tenant: Tenant) -> None:
        tenant.save_method("card_declined")
        tenant.run()
        assert state(tenant) == ("past_due", True)
        seat_invoices.follow_debts(collecting=False)
        assert tenant.organization.is_past_due is False

    def test_a_price_that_changes_within_the_month_takes_effect_with_the_next(self, tenant: Tenant) -> None:
        catalogue = product("studio")
        catalogue.seat_price_microusd = 3 * PRICE
        catalogue.save()
        seat_invoices.draft_all(now=tenant.now)
        estimate = seat_estimate.estimate(tenant.id, timezone.now())
        assert (tenant.invoice.total_microusd, estimate.projected_microusd) == (2 * PRICE, 2 * PRICE)
        assert estimate.products[0].monthly_price_microusd == PRICE
        following = seat_estimate.estimate(tenant.id, timezone.now() + 32 * DAY)
        assert following.projected_microusd == 6 * PRICE

    def test_what_a_partner_bills_is_left_out_from_the_month_it_was_confirmed_in(self, tenant: Tenant) -> None:
        mapping = ExternalMapping.objects.create(
            org_id=tenant.id,
            product="studio",
            provider="stripe",
            external_org_id="acct_1",
            mode="test",
            verified_by=tenant.owner.did,
            verified_at=timezone.now(),
            created_at=LAST_MONTH[1] - timedelta(microseconds=1),
        )
        assert seat_invoices.draft_all(now=tenant.now) == 0
        ExternalMapping.objects.filter(pk=mapping.pk).update(created_at=LAST_MONTH[1])
        assert seat_invoices.draft_all(now=tenant.now) == 1

    def test_more_intervals_than_a_report_shows_are_billed(
        self, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("organizations.queries.seat_estimate.REPORT_INTERVALS_MAX", 1)
        assert seat_invoices.draft_all(now=tenant.now) == 1
        assert tenant.invoice.total_microusd == 2 * PRICE


class TestIssue:
    """Numbers, and what is due."""

    def test_a_number_that_was_rolled_back_is_given_again(self, tenant: Tenant) -> None:
        other = Tenant(tenant.provider, "oscar")
        seat_invoices.draft_all(now=tenant.now)
        with dying():
            invoices.issue(tenant.invoice.pk, now=tenant.now)
            assert tenant.invoice.number == "INV-000001"
        assert [invoices.issue(one.pk, now=tenant.now) for one in (other.invoice, tenant.invoice)] == [True, True]
        assert (other.invoice.number, tenant.invoice.number) == ("INV-000001", "INV-000002")
        assert invoices.issue(other.invoice.pk, now=tenant.now) is False

    def test_what_is_less_than_can_be_charged_is_paid_with_its_issue(self, tenant: Tenant) -> None:
        invoice = invoicing.issued("org_small", price=499_999)
        assert (invoice.status, invoice.due_microusd, invoice.next_attempt_at) == ("paid", 0, None)
        assert invoicing.issued("org_large", price=500_001).due_microusd == 500_000

    def test_a_fraction_of_a_cent_is_not_collected(self, tenant: Tenant) -> None:
        SeatInterval.objects.filter(ended_at=None).update(ended_at=LAST_MONTH[0] + DAY)
        EntitlementInterval.objects.filter(ended_at=None).update(ended_at=LAST_MONTH[0] + DAY)
        tenant.save_method()
        tenant.run()
        days = (LAST_MONTH[1] - LAST_MONTH[0]).days
        total = (2 * PRICE * 2 + days) // (2 * days)
        assert tenant.invoice.total_microusd == total
        assert [charge["amount"] for charge in tenant.provider.charges] == [total // 10_000]


class TestCollection:
    """Charges of the saved payment method, with nobody present."""

    def test_an_invoice_is_charged_exactly_once(self, tenant: Tenant) -> None:
        method = tenant.save_method()
        for _ in range(3):
            tenant.run()
        assert state(tenant) == ("paid", False)
        [charge] = tenant.provider.charges
        assert (charge["amount"], charge["payment_method"]) == (4000, method)
        [asked] = [one for one in tenant.provider.asked if (one.method, one.path) == ("POST", INTENTS)]
        [attempt] = tenant.attempts
        assert asked.idempotency_key == attempt.pk
        assert (asked.params["off_session"], asked.params["confirm"]) == ("true", "true")
        assert attempt.payment_ref == charge["payment_intent"]

    def test_without_a_payment_method_it_is_past_due_after_a_week(self, tenant: Tenant) -> None:
        tenant.run()
        tenant.run(7 * DAY - MINUTE)
        assert state(tenant) == ("open", False)
        tenant.run(MINUTE)
        assert state(tenant) == ("past_due", True)
        tenant.save_method()
        tenant.run()
        assert state(tenant) == ("paid", False)

    def test_a_past_due_organization_gets_no_more_seats_and_keeps_those_it_has(self, tenant: Tenant) -> None:
        tenant.save_method("card_declined")
        tenant.run()
        with pytest.raises(BillingPastDue):
            tenant.assign("newcomer")
        assert tenant.assign("olivia0").is_assigned
        tenant.save_method()
        tenant.run()
        assert tenant.assign("newcomer").is_assigned

    def test_a_refused_charge_is_repeated_after_days_and_then_left(self, tenant: Tenant) -> None:
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

    def test_a_charge_that_is_paid_on_the_second_try(self, tenant: Tenant) -> None:
        method = tenant.save_method("card_declined")
        tenant.run()
        tenant.provider.answer_charges(method, "succeeds")
        tenant.run(DAY)
        assert (state(tenant), tenant.outcomes) == (("paid", False), ["card_declined", "succeeded"])
        assert len(tenant.provider.charges) == 1

    def test_a_bank_that_asks_for_the_customer_is_paid_once_the_method_is_saved_again(self, tenant: Tenant) -> None:
        tenant.save_method("authentication_required")
        tenant.run()
        assert (state(tenant), tenant.outcomes) == (("past_due", True), ["authentication_required"])
        again = tenant.save_method()
        tenant.run()
        assert (state(tenant), tenant.outcomes) == (("paid", False), ["authentication_required", "succeeded"])
        assert [charge["payment_method"] for charge in tenant.provider.charges] == [again]

    @pytest.mark.parametrize("refused", ["", "card_declined"])
    def test_a_bank_that_takes_its_time_is_followed(self, tenant: Tenant, refused: str) -> None:
        tenant.save_method("takes_its_time")
        tenant.run()
        tenant.run(10 * DAY)
        assert (state(tenant), tenant.outcomes) == (("open", False), ["processing"])
        [attempt] = tenant.attempts
        tenant.provider.end_charge(str(attempt.payment_ref), refused=refused)
        tenant.run(DAY)
        assert tenant.outcomes[0] == (refused or "succeeded")
        assert tenant.invoice.status == ("past_due" if refused else "paid")

    @pytest.mark.parametrize("preset", ["drop-request", "drop-answer", "error", "error-after-work", "garbage", "empty"])
    def test_an_answer_that_is_lost_is_found_again_and_charged_once(self, tenant: Tenant, preset: str) -> None:
        tenant.save_method()
        tenant.provider.script(preset, method="POST", path=INTENTS, times=2)  # the library asks twice
        tenant.run()
        assert (state(tenant), tenant.outcomes) == (("open", False), ["creating"])
        tenant.run(MINUTE)
        assert (state(tenant), tenant.outcomes) == (("paid", False), ["succeeded"])
        assert len(tenant.provider.charges) == 1

    @pytest.mark.parametrize(("preset", "charges"), [("drop-request", 0), ("drop-answer", 1)])
    def test_a_request_is_not_repeated_once_its_key_may_be_forgotten(
        self, tenant: Tenant, preset: str, charges: int
    ) -> None:
        tenant.save_method()
        tenant.provider.script(preset, method="POST", path=INTENTS, times=2)
        tenant.run()
        tenant.provider.api.idempotency.forget()
        tenant.run(KEY_KEPT + MINUTE)
        assert len(tenant.provider.charges) == charges
        assert tenant.outcomes == (["succeeded"] if charges else ["never_made"])
        tenant.run(DAY)
        assert (tenant.invoice.status, len(tenant.provider.charges)) == ("paid", 1)

    def test_a_method_that_the_provider_has_no_more_is_a_failure(self, tenant: Tenant) -> None:
        method = tenant.save_method()
        tenant.provider.amend(method, customer="cus_other")
        tenant.run()
        assert (state(tenant), tenant.outcomes) == (("past_due", True), ["rejected"])

    @pytest.mark.parametrize(
        "member",
        [{"amount": 3999}, {"currency": "eur"}, {"livemode": True}, {"amount_received": 1}, {"metadata": {}}],
    )
    def test_a_record_of_something_else_pays_nothing(
        self, tenant: Tenant, member: dict[str, object], caplog: pytest.LogCaptureFixture
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

    def test_events_in_any_order_and_twice_pay_once(self, tenant: Tenant) -> None:
        tenant.save_method("takes_its_time")
        tenant.run()
        [attempt] = tenant.attempts
        tenant.provider.end_charge(str(attempt.payment_ref))
        told = tenant.provider.events_of("payment_intent.succeeded", "charge.succeeded", "payment_intent.created")
        for event in [*reversed(told), *told]:
            body, headers = tenant.provider.webhooks.signed(event)
            stored = events.receive(body, headers["Stripe-Signature"], now=timezone.now())
            if stored:
                events.handle(stored, now=tenant.now)
        assert (tenant.invoice.status, tenant.outcomes) == ("paid", ["succeeded"])
        assert not ProviderEvent.objects.filter(handled_at=None).exists()

    def test_an_event_that_claims_a_payment_pays_nothing(self, tenant: Tenant) -> None:
        tenant.save_method("takes_its_time")
        tenant.run()
        [attempt] = tenant.attempts
        claim = {**tenant.provider.events_of("payment_intent.created")[0], "type": "payment_intent.succeeded"}
        claim["data"]["object"]["status"] = "succeeded"
        body, headers = tenant.provider.webhooks.signed({**claim, "id": "evt_claim"})
        stored = events.receive(body, headers["Stripe-Signature"], now=timezone.now())
        assert stored is not None
        events.handle(stored, now=tenant.now)
        assert (tenant.invoice.status, attempt.status) == ("open", "processing")


class TestCorrections:
    """Void and credit."""

    def test_a_void_invoice_is_owed_by_nobody_and_its_month_is_not_billed_again(self, tenant: Tenant) -> None:
        tenant.save_method("card_declined")
        tenant.run()
        invoices.void(tenant.invoice.pk, reason="Wrong price", now=tenant.now)
        for _ in range(2):
            tenant.run(7 * DAY)
        assert (state(tenant), tenant.invoice.void_reason) == (("void", False), "Wrong price")
        assert (tenant.invoice.number, len(tenant.attempts)) == ("INV-000001", 1)

    def test_a_draft_can_be_ended_without_a_number(self, tenant: Tenant) -> None:
        seat_invoices.draft_all(now=tenant.now)
        invoices.void(tenant.invoice.pk, reason="A test", now=tenant.now)
        tenant.run()
        assert (tenant.invoice.status, tenant.invoice.number) == ("void", None)

    def test_an_invoice_is_not_made_void_while_it_is_being_paid(self, tenant: Tenant) -> None:
        tenant.save_method("takes_its_time")
        tenant.run()
        with pytest.raises(NotCorrectable, match="in progress"):
            invoices.void(tenant.invoice.pk, reason="r", now=tenant.now)
        tenant.provider.end_charge(str(tenant.attempts[0].payment_ref))
        tenant.run(DAY)
        with pytest.raises(NotCorrectable, match="paid"):
            invoices.void(tenant.invoice.pk, reason="r", now=tenant.now)

    def test_a_charge_in_review_ends_with_its_invoice(self, tenant: Tenant, caplog: pytest.LogCaptureFixture) -> None:
        tenant.save_method("takes_its_time")
        tenant.run()
        [attempt] = tenant.attempts
        tenant.provider.amend(str(attempt.payment_ref), amount=1)
        tenant.run(MINUTE)
        invoices.void(tenant.invoice.pk, reason="Another amount was charged", now=tenant.now)
        tenant.provider.amend(str(attempt.payment_ref), amount=4000)
        tenant.provider.end_charge(str(attempt.payment_ref))
        tenant.run(DAY)
        with caplog.at_level(logging.CRITICAL):
            invoice_payments.converge(attempt, now=tenant.now)
        assert (state(tenant), tenant.outcomes) == (("void", False), ["review"])
        assert attempt.pk in caplog.text

    def test_a_credit_is_in_the_wallet_once_and_never_more_than_was_paid(self, tenant: Tenant) -> None:
        tenant.save_method()
        tenant.run()
        note_id, total = new_id("cn"), tenant.invoice.total_microusd

        def credit(amount: int, note: str) -> CreditNote:
            return invoices.credit(
                tenant.invoice.pk, amount_microusd=amount, note_id=note, reason="r", actor="did:op", now=tenant.now
            )

        assert [credit(15_000_001, note_id).number for _ in range(2)] == ["CN-000001"] * 2
        with pytest.raises(NotCorrectable, match=r"At most \$24.999999"):
            credit(25_000_000, new_id("cn"))
        assert credit(24_999_999, new_id("cn")).number == "CN-000002"
        with pytest.raises(NotCorrectable, match=r"At most \$0.00"):
            credit(1, new_id("cn"))
        wallet = wallets.view(("organization", tenant.id), timezone.now())
        assert (wallet.credits_microusd, wallet.balance_microusd) == (2 * PRICE, 0)
        assert (tenant.invoice.status, tenant.invoice.total_microusd) == ("paid", total)

    def test_only_what_was_paid_is_credited(self, tenant: Tenant) -> None:
        tenant.run()
        with pytest.raises(NotCorrectable, match="void instead"):
            invoicing.credit(tenant.invoice, 1)
        assert not CreditNote.objects.exists()


class TestBillingView:
    """What GET …/billing says about invoices."""

    def test_shows_a_draft_and_what_became_of_it_whole(self, tenant: Tenant, api: Api) -> None:
        seat_invoices.draft_all(now=tenant.now)
        start, end = (f"{at:%Y-%m-%dT%H:%M:%SZ}" for at in LAST_MONTH)
        days = (LAST_MONTH[1] - LAST_MONTH[0]).days
        draft = {
            "invoiceId": tenant.invoice.pk,
            "number": None,
            "status": "draft",
            "periodStart": start,
            "periodEnd": end,
            "totalMicrousd": 2 * PRICE,
            "lines": [{"product": "studio", "seatDays": 2 * days, "amountMicrousd": 2 * PRICE}],
        }
        assert self._view(api, tenant)["invoices"] == [draft]
        tenant.save_method("card_declined")
        tenant.run()
        body = self._view(api, tenant)
        assert (body["invoices"], body["pastDue"]) == ([{**draft, "number": "INV-000001", "status": "past_due"}], True)
        tenant.save_method()
        tenant.run()
        body = self._view(api, tenant)
        assert (body["invoices"], body["pastDue"]) == ([{**draft, "number": "INV-000001", "status": "paid"}], False)

    def test_the_newest_month_comes_first_and_another_organizations_are_not_there(
        self, tenant: Tenant, api: Api
    ) -> None:
        made = [invoicing.issued(tenant.id, months_ago=ago).pk for ago in (2, 3)]
        invoicing.issued(Team("oscar").id)
        assert [one["invoiceId"] for one in self._view(api, tenant)["invoices"]] == made

    def test_more_invoices_than_a_report_shows_are_refused_whole(
        self, tenant: Tenant, api: Api, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert limits.REPORT_INVOICES_MAX == 1000
        monkeypatch.setattr("billing.queries.invoices.REPORT_INVOICES_MAX", 2)
        for ago in (1, 2):
            invoicing.issued(tenant.id, months_ago=ago)
        assert len(self._view(api, tenant)["invoices"]) == 2
        invoicing.issued(tenant.id, months_ago=3)
        status, body = api("GET", f"/organizations/{tenant.id}/billing")
        assert (status, body["error"]["code"]) == (422, "org_report_limit")

    def _view(self, api: Api, tenant: Tenant) -> Any:
        status, body = api("GET", f"/organizations/{tenant.id}/billing")
        assert status == 200
        return body


def test_every_price_of_the_catalogue_is_dated_however_it_is_set(db: None) -> None:
    catalogue = product("studio", 5)
    catalogue.save()
    type(catalogue).objects.filter(pk=catalogue.pk).update(seat_price_microusd=6)
    type(catalogue).objects.bulk_update([catalogue], ["seat_price_microusd"])
    prices = SeatPrice.objects.filter(product="studio").order_by("effective_at")
    assert list(prices.values_list("price_microusd", flat=True)) == [5, 6, 5]
