"""However many credits a wallet has, a call holds a bounded number of them, and none of them is lost for spending."""

from datetime import timedelta

from django.db import connection
from django.utils import timezone

from billing import tasks
from billing.models import Call, CreditLot, Transfer
from billing.queries import audit
from gateway.core.contract.ids import new_id
from tests.factories.billing import Purse, release, settle
from tests.factories.payments import top_up
from tests.support.unguarded import unguarded

LOTS_MAX = 64


def lots_of(usage_id: str | None) -> dict[str, int]:
    call = Call.objects.get(pk=usage_id)
    return dict(zip(call.lot_ids or (), call.lot_amounts_microusd or (), strict=True))


def test_a_call_holds_the_first_64_in_the_order_of_spending(purse: Purse) -> None:
    expiry = timezone.now() + timedelta(days=1)
    lots = [purse.grant(1, expires_at=expiry + timedelta(minutes=number)) for number in range(LOTS_MAX + 6)]
    refused = purse.reserve(LOTS_MAX + 1)
    assert (refused.outcome, refused.available_microusd) == ("insufficient_funds", LOTS_MAX)
    held = purse.reserve(LOTS_MAX)
    assert list(lots_of(held.usage_id)) == lots[:LOTS_MAX]
    assert list(lots_of(purse.reserve(6).usage_id)) == lots[LOTS_MAX:]


def test_balance_covers_what_64_do_not(purse: Purse) -> None:
    for _ in range(LOTS_MAX + 6):
        purse.grant(1)
    call = purse.pay(10).call(LOTS_MAX + 4)
    row = Call.objects.get(pk=call)
    assert (len(row.lot_ids or ()), row.cash_held_microusd) == (LOTS_MAX, 4)
    assert settle(call, LOTS_MAX + 1).charge_microusd == LOTS_MAX + 1
    assert (purse.wallet.balance_microusd, purse.wallet.credits_microusd) == (9, 6)


def test_credits_of_the_same_terms_become_one_that_a_single_call_can_hold(purse: Purse) -> None:
    for _ in range(600):
        purse.grant(2, product="studio")
    assert purse.reserve(1200, product="studio").outcome == "insufficient_funds"
    before = purse.wallet
    assert tasks.merge_lots() >= 600
    assert tasks.merge_lots() == 0
    after = purse.wallet
    assert (after.credits_microusd, after.available_microusd) == (before.credits_microusd, 1200)
    assert len(after.credits) == 1
    assert settle(purse.call(1200, product="studio"), 1100).charge_microusd == 1100
    assert purse.wallet.credits_microusd == 100


def test_other_terms_and_payments_stay_apart(purse: Purse) -> None:
    now = timezone.now()
    terms = [(None, None), ("studio", None), (None, now + timedelta(days=1)), ("studio", now + timedelta(days=1))]
    for product, expiry in terms:
        for _ in range(31):
            purse.grant(1, product=product, expires_at=expiry)
    for _ in range(33):
        top_up(purse.owner, 1, "studio")
    assert tasks.merge_lots() == 0
    purse.grant(1)
    assert tasks.merge_lots() == 32
    [merged] = CreditLot.objects.filter(source_kind="merge")
    assert (merged.product, merged.expires_at, merged.granted_microusd) == (None, None, 32)


def test_what_is_held_stays_with_its_call_and_is_merged_later(purse: Purse) -> None:
    lots = [purse.grant(2) for _ in range(80)]
    calls = [purse.call(1) for _ in range(41)]
    assert tasks.merge_lots() == 60
    assert CreditLot.objects.get(source_kind="merge").granted_microusd == 119
    settle(calls[0], 1)
    for call in calls[1:]:
        release(call)
    assert purse.wallet.credits_microusd == 159
    for _ in range(12):
        purse.grant(1)
    assert tasks.merge_lots() == 34
    assert Transfer.objects.filter(kind="merge", source__in=lots).count() == 81
    assert purse.wallet.credits_microusd == 171


def test_an_expired_credit_is_not_merged(purse: Purse) -> None:
    expiry = timezone.now()
    for _ in range(40):
        purse.grant(1, expires_at=expiry)
    assert tasks.merge_lots() == 0
    assert tasks.sweep_lots() == 40


def test_the_audit_sees_a_merge_that_changes_terms(purse: Purse) -> None:
    for _ in range(32):
        purse.grant(1)
    tasks.merge_lots()
    [merged] = CreditLot.objects.filter(source_kind="merge")
    with unguarded():
        CreditLot.objects.filter(pk=merged.pk).update(product="studio")
    assert {finding.invariant for finding in audit.findings()} == {"merge_keeps_its_terms"}
    with unguarded():
        CreditLot.objects.filter(pk=merged.pk).update(product=None)


def test_five_thousand_credits_cost_a_call_no_more_than_64(purse: Purse) -> None:
    """By what is read and written: a hold reads the first credits off their index, and changes no others."""
    lot = CreditLot.objects.get(pk=purse.grant(1))
    expiry = timezone.now() + timedelta(days=1)
    with connection.cursor() as cursor:
        cursor.execute(
            """INSERT INTO billing_credit_lot (
                 id, wallet_id, granted_microusd, remaining_microusd, held_microusd, expires_at, source_kind, source_key)
               SELECT %(name)s || n, %(wallet)s, 1, 1, 0, %(expiry)s::timestamptz + n * interval '1 second', 'test',
                      %(name)s || n
                 FROM generate_series(1, 5000) n""",
            {"name": new_id("crd"), "wallet": lot.wallet_id, "expiry": expiry},
        )
        cursor.execute(
            """INSERT INTO billing_transfer (
                 kind, source, debit_account, credit_account, amount_microusd, wallet_id, created_at)
               SELECT 'grant', id, 'platform:grants', 'lot:' || id, 1, wallet_id, created_at
                 FROM billing_credit_lot WHERE id <> %s""",
            [lot.pk],
        )
        cursor.execute("ANALYZE billing_credit_lot, billing_transfer")
    call = purse.pay(10_000).call(5000)
    assert len(lots_of(call)) == LOTS_MAX
    settle(call, 5000)
    assert Transfer.objects.filter(kind="charge", source=call).count() == LOTS_MAX + 1
    assert CreditLot.objects.filter(closed_at__isnull=False).count() == LOTS_MAX
