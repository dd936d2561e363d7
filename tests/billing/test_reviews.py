"""A call whose outcome is not known is resolved exactly once: by its upstream, by its delivery, or by a person."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from billing import tasks
from billing.models import Call, Loss, UsageRecord
from billing.operations import ledger, reviews
from billing.operations.reviews import Finding
from billing.queries.wallets import WalletBalance
from tests.factories.billing import ANSWER, Purse, note_delivery, release, review, settle, state
from tests.support.unguarded import unguarded

EVIDENCE = {"input_tokens": 12, "output_tokens": 8, "charge_microusd": 7}


pytestmark = pytest.mark.usefixtures("look_ups")


def in_review(purse: Purse, hold: int = 50, **fields: object) -> str:
    call = purse.pay(100).call(hold, key="k")
    assert review(call, **fields)  # type: ignore[arg-type]
    return call


def test_review_keeps_the_hold_and_the_key(purse: Purse) -> None:
    call = in_review(purse)
    assert purse.wallet == WalletBalance(100, 0, 50, 50, 0, ())
    assert purse.reserve(10, "k").outcome == "in_progress"
    assert Call.objects.get(pk=call).review_reason == "upstream_timeout"


def test_a_call_goes_to_review_once(purse: Purse) -> None:
    held = purse.pay(100).call(10)
    assert review(held) is True
    assert review(held) is False
    release(held, expected=["review"])
    assert review(held) is False


def test_a_call_that_was_given_up_gets_its_process_s_own_reason_and_evidence_once(purse: Purse) -> None:
    call = in_review(purse, reason="deadline_passed")
    assert review(call, "process_died") is False
    assert review(call, "connection lost", evidence=EVIDENCE, replay=ANSWER) is True
    assert review(call, "upstream_timeout") is False
    assert review(call, "deadline_passed") is False
    found = Call.objects.get(pk=call)
    assert (found.state, found.review_reason, found.evidence) == ("review", "connection lost", EVIDENCE)
    assert purse.wallet.held_microusd == 50
    assert reviews.reconcile(now=timezone.now()) == 1
    assert purse.reserve(10, "k").replay == ANSWER


def test_checkpoints_remain_until_the_call_is_no_longer_delivered(purse: Purse) -> None:
    call = purse.pay(100).call(50)
    deadline = timezone.now() + timedelta(hours=1)
    assert note_delivery(call, {"charge_microusd": 3}, deadline)
    assert note_delivery(call, EVIDENCE, deadline - timedelta(minutes=9))
    stored = Call.objects.get(pk=call)
    assert (stored.evidence, stored.deadline_at) == (EVIDENCE, deadline)
    review(call)
    assert note_delivery(call, {"charge_microusd": 50}) is False
    assert Call.objects.get(pk=call).evidence == EVIDENCE


def test_charges_what_was_delivered(purse: Purse) -> None:
    call = in_review(purse, evidence=EVIDENCE)
    assert reviews.reconcile(now=timezone.now()) == 1
    used = UsageRecord.objects.get(pk=call)
    assert (used.input_tokens, used.output_tokens, used.charge_microusd, used.basis) == (12, 8, 7, "delivered")
    assert Call.objects.get(pk=call).resolution == "delivered"
    assert purse.wallet == WalletBalance(93, 0, 0, 93, 0, ())
    assert reviews.reconcile(now=timezone.now()) == 0


def test_waits_without_evidence(purse: Purse) -> None:
    call = in_review(purse)
    assert reviews.reconcile(now=timezone.now()) == 0
    assert state(call) == "review"


def test_asks_the_upstream_before_it_trusts_what_was_delivered(purse: Purse) -> None:
    call = in_review(purse, evidence=EVIDENCE)
    reviews.register(lambda found: Finding(20, {"output_tokens": 33}) if found.id == call else None)
    assert reviews.reconcile(now=timezone.now()) == 1
    used = UsageRecord.objects.get(pk=call)
    assert (used.output_tokens, used.charge_microusd, used.basis) == (33, 20, "upstream")


def test_releases_what_the_upstream_never_took(purse: Purse) -> None:
    call = in_review(purse)
    reviews.register(lambda found: Finding(None))
    assert reviews.reconcile(now=timezone.now()) == 1
    assert state(call) == "released"
    assert purse.wallet == WalletBalance(100, 0, 0, 100, 0, ())
    assert not Loss.objects.exists()


def test_no_call_waits_for_a_look_up_while_no_upstream_offers_any(purse: Purse) -> None:
    call = in_review(purse, evidence=EVIDENCE)
    reviews.register(lambda found: Finding(20), is_any=lambda: False)
    assert reviews.reconcile(now=timezone.now()) == 1
    assert Call.objects.get(pk=call).charge_microusd == 7
    assert Call.objects.get(pk=call).next_look_up_at is None


def test_a_look_up_that_fails_keeps_nobody_waiting(purse: Purse, caplog: pytest.LogCaptureFixture) -> None:
    call = in_review(purse, evidence=EVIDENCE)

    def broken(found: Call) -> Finding | None:
        raise RuntimeError("upstream is away")

    reviews.register(broken)
    reviews.register(broken)
    assert reviews.reconcile(now=timezone.now()) == 1
    assert state(call) == "settled"
    assert [record.message for record in caplog.records] == [f"looking up call {call} failed"]


def test_an_operator_charges_at_most_the_hold(purse: Purse) -> None:
    call = in_review(purse, replay=ANSWER)
    assert reviews.charge(call, cost_microusd=80) is True
    assert reviews.charge(call, cost_microusd=10) is False
    assert reviews.release(call) is False
    assert purse.wallet == WalletBalance(50, 0, 0, 50, 0, ())
    assert UsageRecord.objects.get(pk=call).basis == "operator"
    assert purse.reserve(10, "k").outcome == "replay"


def test_an_operator_releases(purse: Purse) -> None:
    call = in_review(purse)
    assert reviews.release(call) is True
    assert reviews.release(call) is False
    assert reviews.charge(call, cost_microusd=10) is False
    assert purse.reserve(10, "k").outcome == "reserved"


def test_an_operator_decides_only_on_reviews(purse: Purse) -> None:
    call = purse.pay(100).call(50)
    assert reviews.charge(call, cost_microusd=10) is False
    assert reviews.release(call) is False
    assert state(call) == "dispatched"


def test_without_evidence_for_so_long_it_is_released_and_booked_as_a_possible_loss(
    purse: Purse, caplog: pytest.LogCaptureFixture
) -> None:
    call = in_review(purse)
    later = timezone.now() + timedelta(hours=settings.REVIEW_RELEASE_HOURS)
    hours = timedelta(hours=settings.REVIEW_RELEASE_HOURS)
    assert reviews.release_unresolved(now=later - timedelta(minutes=1), after=hours) == 0
    assert reviews.release_unresolved(now=later, after=hours) == 1
    assert purse.wallet == WalletBalance(100, 0, 0, 100, 0, ())
    assert list(Loss.objects.values_list("call", "kind", "amount_microusd")) == [(call, "unresolved", 50)]
    assert "possibly lost 50 micro-USD" in caplog.text
    assert settle(call, 50).outcome == "released"


def test_reaps_what_dead_processes_left(purse: Purse) -> None:
    now = timezone.now()
    purse.pay(1000)
    overdue = purse.call(30, now=now, deadline_seconds=0)
    under_way = purse.call(40, now=now, deadline_seconds=0.000001)
    assert ledger.reap(now=now).rows() == [(overdue, "review")]
    assert [state(call) for call in (overdue, under_way)] == ["review", "dispatched"]
    assert Call.objects.get(pk=overdue).review_reason == "deadline_passed"
    assert purse.wallet.held_microusd == 70
    assert ledger.reap(now=now).rows() == []
    assert settle(overdue, 5).outcome == "settled"


def test_reaps_over_several_wallets_and_batches(purse: Purse) -> None:
    for other in (Purse(), Purse(), purse):
        other.pay(100)
        for _ in range(3):
            other.call(10, deadline_seconds=0)
    assert len(ledger.reap(limit=4).rows()) == 4
    assert tasks.reap() == 5
    assert tasks.reap() == 0
    assert purse.wallet.held_microusd == 30


def test_a_run_reaps_no_more_than_its_limit_whatever_the_plan(purse: Purse) -> None:
    purse.pay(100)
    for _ in range(6):
        purse.call(10, deadline_seconds=0)
    with connection.cursor() as cursor:
        for step in ("hashagg", "hashjoin", "mergejoin", "sort", "material"):
            cursor.execute(f"SET LOCAL enable_{step} = off")
    assert len(ledger.reap(limit=4).rows()) == 4


def test_the_job_reconciles_and_releases(purse: Purse) -> None:
    known = in_review(purse, evidence=EVIDENCE)
    purse.pay(100)
    old = purse.call(10)
    review(old)
    long_ago = timezone.now() - timedelta(hours=settings.REVIEW_RELEASE_HOURS, minutes=1)
    with unguarded():
        Call.objects.filter(pk=old).update(created_at=long_ago, dispatched_at=long_ago)
    assert tasks.reconcile() == {"resolved": 1, "released": 1}
    assert (state(known), state(old)) == ("settled", "released")
    assert tasks.reconcile() == {"resolved": 0, "released": 0}


def test_the_jobs_sweep_and_purge(purse: Purse) -> None:
    purse.grant(10, expires_at=timezone.now())
    settle(purse.pay(10).call(5, "k"), 5, replay=ANSWER, now=timezone.now() - timedelta(hours=24))
    assert (tasks.sweep_lots(), tasks.purge_replays()) == (1, 1)
    assert (tasks.sweep_lots(), tasks.purge_replays()) == (0, 0)


def test_the_audit_job_raises_the_alarm(purse: Purse, caplog: pytest.LogCaptureFixture) -> None:
    assert tasks.audit_ledger() == 0
    call = purse.pay(100).call(50)
    Call.objects.filter(pk=call).update(deadline_at=timezone.now() - timedelta(hours=1))
    assert tasks.audit_ledger() == 1
    assert f"nothing_is_stale: {call}" in caplog.text
    tasks.reap()
