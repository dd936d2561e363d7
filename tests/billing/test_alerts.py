"""Alerts of wallets: recorded once by what crosses the threshold, and again only after the wallet was at or above it."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from billing.models import Wallet
from billing.operations import alerts, budgets, ledger, reviews
from billing.queries import alerts as queries
from billing.rules.budgets import Subject
from gateway.core.events.models import Event
from tests.billing.conftest import unsound
from tests.factories.billing import Purse, release, review, settle
from tests.factories.events import recorded, types
from tests.factories.payments import take_back, top_up

USD = 1_000_000


def spend(purse: Purse, amount: int, hold: int | None = None) -> str:
    """Make a call that costs so much."""
    call = purse.call(hold or amount)
    settle(call, amount)
    return call


def alerts_of(purse: Purse) -> list[tuple[str, dict[str, Any]]]:
    return [each for each in recorded(purse.key, "wallet") if each[0] != "wallet.credited"]


def low(purse: Purse, available: int, threshold: int = USD) -> tuple[str, dict[str, Any]]:
    return "wallet.low", {"did": purse.key, "availableMicrousd": available, "thresholdMicrousd": threshold}


def empty(purse: Purse) -> tuple[str, dict[str, Any]]:
    return "wallet.empty", {"did": purse.key, "availableMicrousd": 0}


def test_a_wallet_alerts_once_below_its_threshold_and_once_when_it_is_empty(purse: Purse) -> None:
    purse.pay(3 * USD)
    spend(purse, 2 * USD)
    assert alerts_of(purse) == []
    spend(purse, 1)
    assert alerts_of(purse) == [low(purse, USD - 1)]
    spend(purse, 1)
    spend(purse, USD - 2)
    assert alerts_of(purse) == [low(purse, USD - 1), empty(purse)]


def test_one_charge_can_cross_both(purse: Purse) -> None:
    purse.pay(3 * USD)
    spend(purse, 3 * USD)
    assert alerts_of(purse) == [low(purse, 0), empty(purse)]


def test_a_wallet_alerts_again_only_after_it_was_at_its_threshold(purse: Purse) -> None:
    purse.pay(2 * USD)
    spend(purse, USD + 1)
    purse.grant(0 + 1)
    assert len(alerts_of(purse)) == 1
    spend(purse, 1)
    assert alerts_of(purse) == [low(purse, USD - 1), low(purse, USD - 1)]


def test_what_never_was_at_the_threshold_is_not_below_it(purse: Purse) -> None:
    purse.grant(USD - 1)
    spend(purse, 5)
    assert alerts_of(purse) == []
    spend(purse, USD - 6)
    assert alerts_of(purse) == [empty(purse)]


def test_holds_do_not_alert_and_the_event_says_what_they_leave(purse: Purse) -> None:
    purse.pay(3 * USD)
    first, second = purse.call(2 * USD), purse.call(USD)
    assert alerts_of(purse) == []
    release(second)
    assert alerts_of(purse) == []
    third = purse.call(100)
    settle(first, 2 * USD)
    assert alerts_of(purse) == []
    settle(purse.call(10), 10)
    assert alerts_of(purse) == [low(purse, USD - 110)]
    release(third)
    assert len(alerts_of(purse)) == 1


def test_credits_count_until_they_expire(purse: Purse) -> None:
    now = timezone.now()
    purse.pay(100)
    purse.grant(2 * USD, "studio", expires_at=now + timedelta(hours=1))
    spend(purse, 50)
    assert alerts_of(purse) == []
    ledger.sweep_lots(now=now + timedelta(hours=1)).rows()
    assert alerts_of(purse) == [low(purse, 50)]


def test_a_charge_after_credits_have_expired_alerts_before_they_are_swept(purse: Purse) -> None:
    now = timezone.now()
    purse.pay(100)
    purse.grant(2 * USD, expires_at=now + timedelta(hours=1))
    call = purse.call(50, now=now + timedelta(hours=1))
    settle(call, 50, now=now + timedelta(hours=1))
    assert alerts_of(purse) == [low(purse, 50)]
    ledger.sweep_lots(now=now + timedelta(hours=1)).rows()
    assert alerts_of(purse) == [low(purse, 50)]


def test_a_charge_of_credits_alone_alerts(purse: Purse) -> None:
    purse.grant(2 * USD)
    spend(purse, USD + 1)
    assert alerts_of(purse) == [low(purse, USD - 1)]


def test_refunds_and_debts_alert(purse: Purse) -> None:
    checkout = top_up(purse.owner, 2 * USD)
    spend(purse, USD)
    take_back(checkout, 500)
    assert alerts_of(purse) == [low(purse, USD - 500)]
    take_back(checkout, 2 * USD)
    assert alerts_of(purse) == [low(purse, USD - 500), empty(purse)]
    assert purse.wallet.debt_microusd == USD


def test_a_refund_that_failed_arms_again(purse: Purse) -> None:
    checkout = top_up(purse.owner, 2 * USD)
    take_back(checkout, USD + 1)
    take_back(checkout, 0)
    take_back(checkout, USD + 1)
    assert types(purse.key, "wallet") == ["wallet.credited", "wallet.low", "wallet.credited", "wallet.low"]


def test_what_an_operator_charges_alerts(purse: Purse) -> None:
    purse.pay(USD)
    call = purse.call(10)
    review(call)
    assert reviews.charge(call, cost_microusd=10)
    assert alerts_of(purse) == [low(purse, USD - 10)]


@pytest.mark.django_db
def test_credits_that_are_given_up_alert() -> None:
    purse = Purse()  # not audited: only a closed account gives credits up
    purse.grant(2 * USD)
    ledger.forfeit_credits(owner=purse.owner).run()
    assert alerts_of(purse) == [low(purse, 0), empty(purse)]


def test_money_that_comes_in_is_recorded(org: Purse) -> None:
    checkout = top_up(org.owner, 300)
    org.grant(40)
    take_back(checkout, 100)
    take_back(checkout, 30)
    assert recorded(org.key, "wallet") == [
        (
            "wallet.credited",
            {"orgId": org.key, "availableMicrousd": 300, "amountMicrousd": 300, "transactionId": checkout.id},
        ),
        ("wallet.credited", {"orgId": org.key, "availableMicrousd": 340, "amountMicrousd": 40}),
        (
            "wallet.credited",
            {"orgId": org.key, "availableMicrousd": 310, "amountMicrousd": 70, "transactionId": checkout.id},
        ),
    ]


def test_a_grant_that_is_repeated_is_recorded_once(purse: Purse) -> None:
    grant: dict[str, Any] = {"owner": purse.owner, "amount_microusd": 5, "source_kind": "test", "source_key": "k"}
    assert ledger.grant_credit(lot_id="crd_1", **grant).run().outcome == "granted"
    assert ledger.grant_credit(lot_id="crd_2", **grant).run().outcome == "already"
    assert types(purse.key) == ["wallet.credited"]


def test_zero_turns_the_threshold_off_but_not_the_empty_wallet(purse: Purse) -> None:
    purse.pay(2 * USD)
    assert alerts.set_threshold(purse.owner, amount_microusd=0) == USD
    spend(purse, 2 * USD)
    assert alerts_of(purse) == [empty(purse)]


def test_a_higher_threshold_alerts_of_nothing_until_the_wallet_was_above_it(purse: Purse) -> None:
    purse.pay(2 * USD)
    alerts.set_threshold(purse.owner, amount_microusd=3 * USD)
    spend(purse, 10)
    assert alerts_of(purse) == []
    purse.pay(2 * USD)
    spend(purse, USD)
    assert alerts_of(purse) == [low(purse, 3 * USD - 10, 3 * USD)]


def test_a_lower_threshold_arms_a_wallet_that_is_above_it(purse: Purse) -> None:
    purse.pay(2 * USD)
    spend(purse, USD + 10)
    alerts.set_threshold(purse.owner, amount_microusd=500)
    spend(purse, USD - 509)
    assert alerts_of(purse) == [low(purse, USD - 10), low(purse, 499, 500)]


def test_a_threshold_of_one_is_the_empty_wallet(purse: Purse) -> None:
    alerts.set_threshold(purse.owner, amount_microusd=1)
    purse.pay(5)
    spend(purse, 4)
    assert alerts_of(purse) == []
    spend(purse, 1)
    assert alerts_of(purse) == [low(purse, 0, 1), empty(purse)]


def test_the_threshold_of_an_owner_without_a_wallet(purse: Purse) -> None:
    assert queries.threshold_microusd(purse.owner) == USD
    alerts.set_threshold(purse.owner, amount_microusd=7)
    assert queries.threshold_microusd(purse.owner) == 7


def test_wallets_of_an_earlier_version_are_armed_by_what_they_are_worth(purse: Purse, org: Purse) -> None:
    """Whoever was below a threshold before hears nothing; whoever was above it hears of the next crossing."""
    purse.pay(2 * USD)
    org.pay(500)
    bare = Purse().pay(3 * USD)
    Wallet.objects.update(alert_below_microusd=None)
    spend(bare, 3 * USD)  # between the migration and the installation of the functions
    assert alerts.arm_all(now=timezone.now()) == 2
    assert alerts.arm_all(now=timezone.now()) == 0
    assert [alerts_of(each) for each in (purse, org, bare)] == [[], [], []]
    spend(purse, USD + 1)
    spend(org, 500)
    assert alerts_of(purse) == [low(purse, USD - 1)]
    assert types(org.key) == ["wallet.credited", "wallet.empty"]


@pytest.mark.parametrize("below", [None, 1, 7, 2 * USD])
def test_the_audit_finds_a_wallet_that_is_armed_wrongly(purse: Purse, below: int | None) -> None:
    purse.pay(2 * USD)
    armed = Wallet.objects.filter(owner_key=purse.key)
    armed.update(alert_below_microusd=below)
    assert [finding.invariant for finding in unsound()] == ["alerts_match_worth"]
    armed.update(alert_below_microusd=USD)


def test_the_audit_finds_an_alert_that_was_missed(purse: Purse) -> None:
    purse.pay(USD)
    spend(purse, 1)
    armed = Wallet.objects.filter(owner_key=purse.key)
    assert armed.get().alert_below_microusd == 1
    armed.update(alert_below_microusd=USD)
    [finding] = unsound()
    assert str(finding).endswith("next alert below 1000000, worth 999999")
    armed.update(alert_below_microusd=1)


def test_a_change_that_is_rolled_back_records_nothing(purse: Purse) -> None:
    purse.pay(USD)
    before = Event.objects.count()
    with connection.cursor() as cursor:
        cursor.execute("SAVEPOINT before")
        spend(purse, 10)
        cursor.execute("ROLLBACK TO before")
    assert Event.objects.count() == before


def budget_events(purse: Purse) -> list[tuple[int, int, int]]:
    return [
        (data["percent"], data["spentMicrousd"], data["limitMicrousd"]) for _, data in recorded(purse.key, "budget")
    ]


def test_a_budget_alerts_at_80_and_at_100_percent_once(org: Purse) -> None:
    org.pay(USD)
    budget = budgets.put(Subject(org.owner), limit_microusd=101)
    spend(org, 80)
    assert budget_events(org) == []
    spend(org, 1)
    spend(org, 1)
    assert recorded(org.key, "budget") == [
        (
            "budget.threshold",
            {
                "orgId": org.key,
                "budgetId": budget.pk,
                "scope": "org",
                "percent": 80,
                "limitMicrousd": 101,
                "spentMicrousd": 81,
            },
        )
    ]
    spend(org, 19)
    budgets.put(Subject(org.owner), limit_microusd=1000)
    spend(org, 800)
    assert budget_events(org) == [(80, 81, 101), (100, 101, 101)]


def test_a_limit_that_is_set_below_what_is_spent_is_reached_at_once(org: Purse) -> None:
    org.pay(USD)
    spend(org, 90)
    budgets.put(Subject(org.owner), limit_microusd=100)
    budgets.put(Subject(org.owner), limit_microusd=50)
    assert budget_events(org) == [(80, 90, 100), (100, 90, 50)]


def test_a_budget_that_is_turned_off_reaches_nothing_until_it_is_on_again(org: Purse) -> None:
    org.pay(USD)
    budget = budgets.put(Subject(org.owner), limit_microusd=100)
    budgets.disable(org.owner, budget.pk, now=timezone.now())
    spend(org, 100)
    assert budget_events(org) == []
    budgets.put(Subject(org.owner), limit_microusd=100)
    assert budget_events(org) == [(80, 100, 100), (100, 100, 100)]


def test_a_budget_of_nothing_reaches_nothing(org: Purse) -> None:
    budgets.put(Subject(org.owner), limit_microusd=0)
    assert budget_events(org) == []


def test_a_persons_own_budget_names_the_person(purse: Purse) -> None:
    purse.pay(USD)
    budget = budgets.put(Subject(purse.owner, client_id="https://app.example"), limit_microusd=10)
    settle(purse.call(9, client_id="https://app.example"), 9)
    [(_, data)] = recorded(purse.key, "budget")
    assert (data["did"], data["budgetId"], data["scope"]) == (purse.key, budget.pk, "client")
