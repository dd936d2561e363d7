"""A repeated request gets its first answer, and is never charged again."""

from datetime import timedelta

from django.utils import timezone

from billing.models import Call, StoredReplay
from billing.operations import replays, reviews
from tests.factories.billing import ANSWER, Purse, release, review, settle

DAY = timedelta(hours=24)


def test_a_key_is_fresh_until_a_hold_takes_it(purse: Purse) -> None:
    assert purse.look_up("k") == ("fresh", None, None, None, None)
    purse.pay(100)
    assert purse.look_up("k") == ("fresh", None, None, None, None)
    assert purse.reserve(101, "k").outcome == "insufficient_funds"
    assert purse.look_up("k").outcome == "fresh"


def test_a_key_is_in_progress_while_its_call_is_open(purse: Purse) -> None:
    call = purse.pay(100).call(10, "k")
    assert purse.look_up("k") == ("in_progress", call, None, None, None)
    assert purse.reserve(10, "k") == ("in_progress", call, None, None, None)
    review(call)
    assert purse.reserve(10, "k").outcome == "in_progress"
    assert Call.objects.count() == 1
    assert purse.wallet.held_microusd == 10


def test_a_key_with_another_body_is_reused(purse: Purse) -> None:
    call = purse.pay(100).call(10, "k")
    assert purse.reserve(10, "k", b"other") == ("key_reused", call, None, None, None)
    settle(call, 5, replay=ANSWER)
    assert purse.look_up("k", b"other") == ("key_reused", call, None, None, None)


def test_a_settled_call_is_replayed_and_charges_nothing(purse: Purse) -> None:
    call = purse.pay(100).call(10, "k")
    settle(call, 5, replay=ANSWER)
    before = purse.wallet
    assert purse.reserve(10, "k") == ("replay", call, None, None, ANSWER)
    assert purse.look_up("k") == ("replay", call, None, None, ANSWER)
    assert purse.wallet == before


def test_a_key_belongs_to_one_route_and_one_owner(purse: Purse) -> None:
    purse.pay(100).call(10, "k")
    assert purse.reserve(10, "k", route="embeddings").outcome == "reserved"
    assert Purse().pay(100).reserve(10, "k").outcome == "reserved"


def test_calls_without_a_key_never_meet(purse: Purse) -> None:
    purse.pay(100)
    assert [purse.reserve(10).outcome for _ in range(3)] == ["reserved"] * 3


def test_a_released_call_frees_its_key(purse: Purse) -> None:
    call = purse.pay(100).call(10, "k")
    release(call)
    again = purse.reserve(10, "k", b"another body is fine now")
    assert again.outcome == "reserved"
    assert again.usage_id != call


def test_a_key_is_free_again_24_hours_after_settlement(purse: Purse) -> None:
    now = timezone.now()
    call = purse.pay(100).call(10, "k")
    settle(call, 5, replay=ANSWER, now=now)
    edge = now + DAY
    assert purse.look_up("k", now=edge - timedelta(microseconds=1)).outcome == "replay"
    assert purse.look_up("k", now=edge) == ("fresh", None, None, None, None)
    again = purse.reserve(10, "k", now=edge)
    assert again.outcome == "reserved"
    assert Call.objects.get(pk=call).replayable is False
    assert purse.look_up("k", now=edge) == ("in_progress", again.usage_id, None, None, None)


def test_a_call_settled_without_an_answer_is_gone_not_run_again(purse: Purse) -> None:
    call = purse.pay(100).call(10, "k")
    review(call)
    assert reviews.charge(call, cost_microusd=5)
    assert purse.reserve(10, "k") == ("gone", call, None, None, None)
    assert purse.look_up("k") == ("gone", call, None, None, None)
    assert purse.wallet.balance_microusd == 95


def test_an_answer_given_before_review_is_replayed_after_it(purse: Purse) -> None:
    call = purse.pay(100).call(10, "k")
    review(call, "usage_missing", replay=ANSWER)
    assert StoredReplay.objects.get(pk=call).expires_at is None
    assert purse.reserve(10, "k") == ("in_progress", call, None, None, None)
    assert reviews.charge(call, cost_microusd=5)
    assert purse.reserve(10, "k") == ("replay", call, None, None, ANSWER)
    assert StoredReplay.objects.get(pk=call).expires_at == Call.objects.get(pk=call).closed_at + DAY  # type: ignore[operator]


def test_a_later_answer_replaces_the_one_given_before_review(purse: Purse) -> None:
    call = purse.pay(100).call(10, "k")
    review(call, replay=ANSWER)
    better = ANSWER._replace(body=b"whole")
    settle(call, 5, replay=better)
    assert purse.reserve(10, "k").replay == better


def test_a_release_from_review_drops_the_answer(purse: Purse) -> None:
    call = purse.pay(100).call(10, "k")
    review(call, replay=ANSWER)
    release(call, expected=["review"])
    assert not StoredReplay.objects.exists()
    assert purse.reserve(10, "k").outcome == "reserved"


def test_purging_deletes_answers_whose_time_is_over(purse: Purse) -> None:
    now = timezone.now()
    old, new, waiting = (purse.pay(100).call(10, key) for key in "abc")
    settle(old, 5, replay=ANSWER, now=now - DAY)
    settle(new, 5, replay=ANSWER, now=now)
    review(waiting, replay=ANSWER)
    assert replays.purge(now=now) == 1
    assert set(StoredReplay.objects.values_list("pk", flat=True)) == {new, waiting}
    assert replays.purge(now=now) == 0
