"""Who is not charged: suspended and closed accounts, organizations that owe, and owners whose payment method is gone."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import DatabaseError, transaction

from accounts.models import Account
from accounts.operations import closing
from accounts.operations.closing import CannotClose
from billing.models import AutoTopUp, AutoTopUpCharge, PaymentMethod, Wallet
from billing.operations import auto_top_ups, checkouts, payment_methods
from billing.operations.auto_top_up_charges import MAY_ARRIVE
from billing.rules import auto_top_ups as rules
from billing.rules.auto_top_ups import BLOCKED_FOR
from organizations.operations import suspension
from tests.billing.auto_top_up.saver import INTENTS, MINUTE, USD, Saver
from tests.factories import invoicing
from tests.factories.organizations import Team
from tests.organizations.tenant import Tenant
from tests.support.stripe import FakeStripe

pytestmark = pytest.mark.django_db


def low(saver: Saver) -> Saver:
    """Make a charge due."""
    saver.save_method()
    saver.enable()
    saver.spend(9 * USD)
    [charge] = saver.charges
    assert charge.status == "waiting"
    return saver


def test_a_suspended_account_is_not_charged_until_it_is_not(saver: Saver) -> None:
    low(saver)
    Account.objects.filter(did=saver.did).update(suspended_at=saver.now)
    assert (saver.run(), saver.charges, saver.paid) == ({}, [], [])
    assert auto_top_ups.begin_missed(now=saver.now + BLOCKED_FOR - MINUTE) == 0
    Account.objects.filter(did=saver.did).update(suspended_at=None)
    assert auto_top_ups.begin_missed(now=saver.now + BLOCKED_FOR) == 1
    assert saver.run(BLOCKED_FOR) == {"succeeded": 1}
    assert saver.paid == [20]


def test_an_organization_with_an_overdue_invoice_is_not_charged(provider: FakeStripe) -> None:
    team = Team()
    saver = low(Saver(provider, ("organization", team.id), team.owner.did))
    invoicing.refused(team.id)
    assert (saver.run(), saver.charges, saver.paid) == ({}, [], [])


def test_a_suspended_organization_is_not_charged_until_it_is_not(provider: FakeStripe) -> None:
    team = Team()
    saver = low(Saver(provider, ("organization", team.id), team.owner.did))
    suspension.suspend(org_id=team.id, text="", actor_did="did:web:localhost:operator")
    assert (saver.run(), saver.charges, saver.paid) == ({}, [], [])
    suspension.lift(org_id=team.id, actor_did="did:web:localhost:operator")
    assert auto_top_ups.begin_missed(now=saver.now + BLOCKED_FOR) == 1
    assert saver.run(BLOCKED_FOR) == {"succeeded": 1}


def test_an_account_is_not_closed_while_a_charge_is_under_way(saver: Saver) -> None:
    saver.save_method("takes_its_time")
    saver.enable()
    saver.spend(10 * USD)
    saver.run()
    account = Account.objects.get(did=saver.did)
    with pytest.raises(CannotClose, match="An automatic payment is under way"):
        closing.close(account=account, now=saver.now)
    [charge] = saver.charges
    saver.provider.end_charge(str(charge.payment_ref), refused="card_declined")
    saver.run(timedelta(days=1))
    assert closing.close(account=account, now=saver.now)
    assert AutoTopUp.objects.get().is_enabled is False


def test_a_closed_account_is_not_charged_and_its_payment_method_is_forgotten(saver: Saver) -> None:
    method = saver.save_method()
    saver.spend(10 * USD)
    saver.purse.grant(7 * USD)
    saver.enable()
    assert saver.charges == []
    account = Account.objects.get(did=saver.did)
    assert closing.close(account=account, now=saver.now)
    assert (saver.run(), saver.charges) == ({}, [])
    assert payment_methods.forget_removed(now=saver.now) == 1
    assert payment_methods.forget_removed(now=saver.now) == 0
    assert saver.provider.get(method)["customer"] is None
    assert PaymentMethod.objects.get().label is None
    assert Wallet.objects.get(owner_key=saver.did).top_up_below_microusd is None


def test_a_removed_method_is_not_charged_and_the_provider_deletes_it_later(saver: Saver) -> None:
    first, second = saver.save_method(), saver.save_method()
    assert PaymentMethod.objects.filter(label="Visa ending in 4242, 12/2034").count() == 2
    saver.enable()
    saver.spend(9 * USD)
    assert payment_methods.remove(saver.owner, removed_by=saver.did, now=saver.now) == 2
    assert (saver.state, saver.run(), saver.charges) == ("needs_payment_method", {}, [])
    saver.provider.script("unavailable", times=2)
    assert payment_methods.forget_removed(now=saver.now) == 0
    assert payment_methods.forget_removed(now=saver.now) == 2
    assert {saver.provider.get(method)["customer"] for method in (first, second)} == {None}
    assert saver.events == []
    saver.save_method()
    assert (saver.state, saver.run()) == ("ready", {"succeeded": 1})


def test_invoices_are_not_charged_to_a_removed_method(db: None, provider: FakeStripe) -> None:
    tenant = Tenant(provider)
    tenant.save_method()
    assert payment_methods.remove(("organization", tenant.id), removed_by=tenant.owner.did, now=tenant.now) == 1
    tenant.run()
    assert (tenant.invoice.status, tenant.attempts) == ("open", [])


def test_a_top_up_saves_its_method_only_if_it_is_told_to(saver: Saver) -> None:
    for saves_method, state in ((False, "needs_payment_method"), (True, "ready")):
        saver.enable()
        checkout = saver.begin("top_up", 5 * USD, saves_method=saves_method)
        saver.provider.pay(str(checkout.session_ref))
        checkouts.converge(checkout, now=saver.now)
        assert saver.state == state
    saver.spend(18 * USD)
    assert saver.run() == {"succeeded": 1}


def test_a_wallet_filled_by_hand_before_the_charge_is_sent_is_not_charged(saver: Saver) -> None:
    low(saver)
    saver.purse.pay(50 * USD)
    assert (saver.run(), saver.charges) == ({}, [])


def turned_off(saver: Saver) -> None:
    saver.enable(is_enabled=False)


def method_removed(saver: Saver) -> None:
    payment_methods.remove(saver.owner, removed_by=saver.did, now=saver.now)


def suspended(saver: Saver) -> None:
    Account.objects.filter(did=saver.did).update(suspended_at=saver.now)


def paused_by_an_operator(saver: Saver) -> None:
    auto_top_ups.pause(saver.wallet.pk, rules.OPERATOR, now=saver.now)


def filled_by_hand(saver: Saver) -> None:
    saver.purse.pay(50 * USD)


@pytest.mark.parametrize("what", [turned_off, method_removed, suspended, paused_by_an_operator, filled_by_hand])
def test_a_request_that_was_lost_is_not_repeated_once_its_charge_is_not_wanted(
    saver: Saver, what: Callable[[Saver], None]
) -> None:
    low(saver)
    saver.provider.script("drop-request", method="POST", path=INTENTS)
    saver.run()
    what(saver)
    for wait in (MINUTE, MAY_ARRIVE):  # it is missing, for the first time so late that it should have arrived
        assert (saver.run(wait), saver.outcomes) == ({}, ["sending"])
    assert (saver.run(MAY_ARRIVE), saver.outcomes) == ({"failed": 1}, ["never_made"])
    assert (saver.paid, saver.booked) == ([], [])


def test_an_answer_that_was_lost_is_booked_even_if_the_charge_is_not_wanted(saver: Saver) -> None:
    low(saver)
    saver.provider.script("drop-answer", method="POST", path=INTENTS)
    saver.run()
    turned_off(saver)
    assert saver.run(MAY_ARRIVE) == {"succeeded": 1}
    assert (saver.paid, saver.booked, saver.balance) == ([20], [20], 21)


def test_a_request_that_was_lost_is_repeated_if_it_is_wanted_again(saver: Saver) -> None:
    low(saver)
    saver.provider.script("drop-request", method="POST", path=INTENTS)
    saver.run()
    turned_off(saver)
    saver.run(MINUTE)
    saver.enable()
    assert saver.run(2 * MINUTE) == {"succeeded": 1}
    assert (saver.paid, saver.booked, saver.outcomes) == ([20], [20], ["succeeded"])


def test_a_lost_request_is_not_repeated_with_a_method_that_was_removed_meanwhile(saver: Saver) -> None:
    low(saver)
    saver.provider.script("drop-request", method="POST", path=INTENTS)
    saver.run()
    method_removed(saver)
    saved = saver.save_method()
    for wait in (MINUTE, MAY_ARRIVE):
        assert (saver.run(wait), saver.paid, saver.state) == ({}, [], "ready")
    assert (saver.run(MAY_ARRIVE), saver.outcomes) == ({"failed": 1}, ["never_made"])
    assert auto_top_ups.begin_missed(now=saver.now) == 1
    assert saver.run() == {"succeeded": 1}
    [made] = [one for one in saver.provider.charges if one["customer"]]
    assert (made["payment_method"], saver.events) == (saved, ["charged"])


def test_a_charge_that_was_sent_is_never_deleted_or_changed(saver: Saver) -> None:
    low(saver)
    saver.run()
    for statement in (AutoTopUpCharge.objects.all().delete, lambda: AutoTopUpCharge.objects.update(amount_microusd=1)):
        with pytest.raises(DatabaseError), transaction.atomic():
            statement()
    assert saver.outcomes == ["succeeded"]
