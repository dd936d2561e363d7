"""Refunds and disputes take back what is there; the rest becomes a debt that the next payment repays."""

from datetime import timedelta

import pytest
from django.utils import timezone

from billing.models import Checkout, CreditLot, Transfer
from billing.operations import checkouts, ledger, wallets
from billing.tasks import reconcile_payments
from tests.billing.payments.payer import USD, Payer, reconcile
from tests.factories.billing import Purse, release, settle
from tests.support.stripe import FakeStripe


def spend(payer: Payer, amount: int, **fields: str) -> None:
    """Charge a call that much."""
    settle(purse_of(payer).call(amount, **fields), amount)


def purse_of(payer: Payer) -> Purse:
    return Purse(*payer.owner)


def taken(checkout: Checkout) -> tuple[int, int]:
    """Return what was taken back so far, and in how many movements."""
    checkout.refresh_from_db()
    return checkout.taken_back_microusd, checkout.movements


def paid_for(payer: Payer, provider: FakeStripe, product: str | None, amount: int = 5 * USD) -> Checkout:
    """Pay a top-up for a product."""
    row, _ = checkouts.begin(
        payer.owner,
        kind="top_up",
        amount_microusd=amount,
        product=product,
        idempotency_key=f"key-{Checkout.objects.count()}",
        requested_by=payer.owner[1],
        now=timezone.now(),
    )
    placed = checkouts.place(row, now=timezone.now())
    provider.pay(str(placed.session_ref))
    placed.refresh_from_db()
    assert placed.status == "paid"
    return placed


class TestRefunds:
    """What the merchant gives back."""

    def test_in_part_and_then_the_rest(self, payer: Payer, provider: FakeStripe) -> None:
        checkout = payer.paid()
        provider.refund(str(checkout.session_ref), amount=120)
        assert payer.money == (3_800_000, 0, 0)
        provider.refund(str(checkout.session_ref), amount=80)
        assert payer.money == (3 * USD, 0, 0)
        assert taken(checkout) == (2 * USD, 2)
        provider.refund(str(checkout.session_ref))
        assert payer.money == (0, 0, 0)
        assert taken(checkout) == (5 * USD, 3)
        assert checkout.status == "paid"

    def test_whose_webhook_was_lost_is_found_by_the_job(self, payer: Payer, provider: FakeStripe) -> None:
        checkout = payer.paid()
        provider.webhooks.hold()
        provider.refund(str(checkout.session_ref), amount=200)
        assert payer.money == (5 * USD, 0, 0)
        reconcile()
        assert payer.money == (3 * USD, 0, 0)
        reconcile(after=timedelta(hours=1))
        assert taken(checkout) == (2 * USD, 1)

    def test_that_fails_later_is_given_back(self, payer: Payer, provider: FakeStripe) -> None:
        checkout = payer.paid()
        refund = provider.refund(str(checkout.session_ref), amount=200, status="pending")
        assert payer.money == (3 * USD, 0, 0)
        provider.turn_refund(refund["id"], "failed")
        assert payer.money == (5 * USD, 0, 0)
        assert taken(checkout) == (0, 2)
        provider.refund(str(checkout.session_ref), amount=200)
        assert payer.money == (3 * USD, 0, 0)
        assert taken(checkout) == (2 * USD, 3)

    def test_that_succeeds_at_last_is_taken_once(self, payer: Payer, provider: FakeStripe) -> None:
        checkout = payer.paid()
        refund = provider.refund(str(checkout.session_ref), amount=200, status="pending")
        provider.turn_refund(refund["id"], "succeeded")
        assert payer.money == (3 * USD, 0, 0)
        assert taken(checkout) == (2 * USD, 1)

    def test_events_may_come_twice_and_in_any_order(self, payer: Payer, provider: FakeStripe) -> None:
        checkout = payer.paid()
        provider.webhooks.hold()
        first = provider.refund(str(checkout.session_ref), amount=100, status="pending")
        provider.refund(str(checkout.session_ref), amount=200)
        provider.turn_refund(first["id"], "failed")
        provider.webhooks.deliver(*reversed(provider.events_of()), times=2)
        assert payer.money == (3 * USD, 0, 0)
        assert taken(checkout) == (2 * USD, 1)

    def test_where_refunds_cannot_be_listed_the_charge_is_believed(self, payer: Payer, provider: FakeStripe) -> None:
        checkout = payer.paid()
        provider.script("forbidden", path="/v1/refunds", times=100)
        provider.refund(str(checkout.session_ref), amount=200)
        assert payer.money == (3 * USD, 0, 0)

    def test_ids_in_place_of_objects_are_followed(self, payer: Payer, provider: FakeStripe) -> None:
        provider.api.ignores_expand = True
        checkout = payer.paid()
        provider.refund(str(checkout.session_ref), amount=200)
        assert taken(checkout) == (2 * USD, 1)


class TestDisputes:
    """What a customer's bank takes back."""

    def test_is_taken_when_it_is_opened_and_stays_so_when_it_is_lost(self, payer: Payer, provider: FakeStripe) -> None:
        checkout = payer.paid()
        dispute = provider.dispute(str(checkout.session_ref))
        assert payer.money == (0, 0, 0)
        provider.end_dispute(dispute["id"], "lost")
        assert payer.money == (0, 0, 0)
        assert taken(checkout) == (5 * USD, 1)

    def test_is_given_back_when_it_is_won(self, payer: Payer, provider: FakeStripe) -> None:
        checkout = payer.paid()
        dispute = provider.dispute(str(checkout.session_ref), amount=300)
        assert payer.money == (2 * USD, 0, 0)
        provider.end_dispute(dispute["id"], "won")
        assert payer.money == (5 * USD, 0, 0)
        assert taken(checkout) == (0, 2)

    @pytest.mark.parametrize("end", ["warning_closed", "lost"])
    def test_an_inquiry_takes_nothing_yet(self, payer: Payer, provider: FakeStripe, end: str) -> None:
        checkout = payer.paid()
        dispute = provider.dispute(str(checkout.session_ref), inquiry=True)
        assert payer.money == (5 * USD, 0, 0)
        provider.end_dispute(dispute["id"], end)
        expected = 5 * USD if end == "warning_closed" else 0
        assert payer.money == (expected, 0, 0)
        assert taken(checkout)[0] == 5 * USD - expected

    def test_beside_a_refund_never_takes_more_than_was_paid(self, payer: Payer, provider: FakeStripe) -> None:
        checkout = payer.paid()
        provider.refund(str(checkout.session_ref), amount=200)
        dispute = provider.dispute(str(checkout.session_ref))
        assert payer.money == (0, 0, 0)
        assert taken(checkout) == (5 * USD, 2)
        provider.end_dispute(dispute["id"], "won")
        assert payer.money == (3 * USD, 0, 0)

    def test_where_disputes_cannot_be_listed_the_one_that_is_named_is_read(
        self, payer: Payer, provider: FakeStripe
    ) -> None:
        checkout = payer.paid()
        provider.webhooks.hold()
        dispute = provider.dispute(str(checkout.session_ref), amount=300)
        provider.amend(dispute["charge"], dispute=dispute["id"])
        provider.script("forbidden", path="/v1/disputes", times=100)
        reconcile()
        assert taken(checkout) == (3 * USD, 1)


class TestDebts:
    """What was spent already cannot be taken."""

    def test_blocks_spending_and_is_repaid_first(self, payer: Payer, provider: FakeStripe) -> None:
        checkout = payer.paid()
        spend(payer, 4 * USD)
        provider.refund(str(checkout.session_ref))
        assert payer.money == (0, 0, 4 * USD)
        purse_of(payer).grant(USD)
        refused = purse_of(payer).reserve(1)
        assert (refused.outcome, refused.available_microusd) == ("insufficient_funds", 0)
        payer.paid(3 * USD)
        assert payer.money == (0, USD, USD)
        assert purse_of(payer).reserve(1).outcome == "insufficient_funds"
        payer.paid(3 * USD)
        assert payer.money == (2 * USD, USD, 0)
        assert purse_of(payer).reserve(1).outcome == "reserved"

    def test_is_repaid_by_what_is_given_back(self, payer: Payer, provider: FakeStripe) -> None:
        checkout = payer.paid()
        spend(payer, 4 * USD)
        dispute = provider.dispute(str(checkout.session_ref))
        assert payer.money == (0, 0, 4 * USD)
        provider.end_dispute(dispute["id"], "won")
        assert payer.money == (USD, 0, 0)

    def test_is_repaid_from_what_calls_held_once_it_is_free(self, payer: Payer, provider: FakeStripe) -> None:
        checkout = payer.paid()
        held = purse_of(payer).call(4 * USD)
        provider.refund(str(checkout.session_ref), amount=300)
        assert payer.money == (4 * USD, 0, 2 * USD)
        reconcile_payments()
        assert payer.money == (4 * USD, 0, 2 * USD)
        release(held)
        reconcile_payments()
        assert payer.money == (2 * USD, 0, 0)
        reconcile_payments()
        assert payer.money == (2 * USD, 0, 0)
        assert Transfer.objects.filter(kind="repayment", wallet__owner_key=payer.owner[1]).count() == 1


class TestProducts:
    """A payment for a product is taken back from its own credit first."""

    def test_is_taken_only_from_its_own_credit(self, payer: Payer, provider: FakeStripe) -> None:
        payer.paid(7 * USD)
        other = paid_for(payer, provider, "studio")
        checkout = paid_for(payer, provider, "studio")
        assert payer.money == (7 * USD, 10 * USD, 0)
        provider.refund(str(checkout.session_ref), amount=200)
        assert payer.money == (7 * USD, 8 * USD, 0)
        lots = CreditLot.objects.filter(source_kind="payment")
        assert lots.get(source_key=checkout.id).remaining_microusd == 3 * USD
        assert lots.get(source_key=other.id).remaining_microusd == 5 * USD

    def test_then_from_the_balance_and_the_rest_is_a_debt(self, payer: Payer, provider: FakeStripe) -> None:
        payer.paid(1 * USD)
        checkout = paid_for(payer, provider, "studio")
        spend(payer, 3 * USD, product="studio")
        assert payer.money == (USD, 2 * USD, 0)
        dispute = provider.dispute(str(checkout.session_ref))
        assert payer.money == (0, 0, 2 * USD)
        assert CreditLot.objects.get(source_key=checkout.id).closed_at is not None
        provider.end_dispute(dispute["id"], "won")
        # What was the debt is gone, the balance has its own again, and so has the product.
        assert payer.money == (USD, 2 * USD, 0)
        [credit] = payer.wallet.credits
        assert (credit.product, credit.granted_microusd, credit.expires_at) == ("studio", 2 * USD, None)

    def test_never_touches_what_open_calls_hold_of_it(self, payer: Payer, provider: FakeStripe) -> None:
        checkout = paid_for(payer, provider, "studio")
        call = purse_of(payer).call(4 * USD, product="studio")
        provider.refund(str(checkout.session_ref))
        assert payer.money == (0, 4 * USD, 4 * USD)
        settle(call, 4 * USD)
        assert payer.money == (0, 0, 4 * USD)

    def test_what_was_given_back_is_taken_again_from_there(self, payer: Payer, provider: FakeStripe) -> None:
        payer.paid(7 * USD)
        checkout = paid_for(payer, provider, "studio")
        refund = provider.refund(str(checkout.session_ref), status="pending")
        assert payer.money == (7 * USD, 0, 0)
        provider.turn_refund(refund["id"], "failed")
        assert payer.money == (7 * USD, 5 * USD, 0)
        provider.refund(str(checkout.session_ref), amount=400)
        assert payer.money == (7 * USD, 1 * USD, 0)
        assert taken(checkout) == (4 * USD, 3)

    def test_parts_that_return_go_where_the_last_was_taken(self, payer: Payer, provider: FakeStripe) -> None:
        payer.paid(7 * USD)
        checkout = paid_for(payer, provider, "studio")
        spend(payer, 3 * USD, product="studio")
        first = provider.refund(str(checkout.session_ref), amount=200, status="pending")
        second = provider.refund(str(checkout.session_ref), amount=300, status="pending")
        assert payer.money == (4 * USD, 0, 0)
        provider.turn_refund(second["id"], "failed")
        assert payer.money == (7 * USD, 0, 0)
        provider.turn_refund(first["id"], "failed")
        assert payer.money == (7 * USD, 2 * USD, 0)


class TestLedger:
    """The functions themselves."""

    def test_a_movement_is_booked_once(self, payer: Payer, provider: FakeStripe) -> None:
        source = f"{payer.paid().id}/1"
        took = [wallets.take_back(*payer.owner, amount_microusd=USD, source=source, payment=source[:-2])] * 2
        took.append(wallets.take_back(*payer.owner, amount_microusd=USD, source=source, payment=source[:-2]))
        assert took[0] == ("taken", USD, 0)
        assert took[-1] == ("already", USD, 0)
        back = f"{source[:-1]}2"
        gave = [
            wallets.give_back(*payer.owner, amount_microusd=USD, source=back, payment=source[:-2]) for _ in range(2)
        ]
        assert gave == [("credited", 0, USD), ("already", 0, USD)]
        assert payer.money == (5 * USD, 0, 0)

    def test_no_more_is_given_back_than_was_taken(self, payer: Payer) -> None:
        payer.paid()
        with pytest.raises(Exception, match="cannot be given back"):
            wallets.give_back(*payer.owner, amount_microusd=1, source="txn_none/1", payment="txn_none")
        assert payer.money == (5 * USD, 0, 0)

    def test_nothing_is_owed_nothing_is_repaid(self, payer: Payer) -> None:
        payer.paid()
        assert ledger.repay_debts().rows() == []
