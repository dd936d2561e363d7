"""However many calls wait for a decision, none keeps another waiting, and a run ends in time."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from itertools import count, pairwise
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from billing.models import Call, Wallet
from billing.operations import reviews
from billing.operations.reviews import Finding
from billing.queries import audit
from billing.rules.check_intervals import next_look_up
from gateway.core.contract.ids import new_id
from tests.factories.billing import Purse, price_version, review, state
from tests.support.concurrency import PATIENCE_SECONDS
from tests.support.unguarded import unguarded

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("look_ups")]

# In their usual time, runs on a busy machine do not come to the end of what waits here.
reconcile = partial(reviews.reconcile, seconds=PATIENCE_SECONDS)
release_unresolved = partial(reviews.release_unresolved, seconds=PATIENCE_SECONDS)

HOLD = 10
DELIVERED = '{"output_tokens": 11, "charge_microusd": 7}'
CALLS = """
INSERT INTO billing_reservation (
  id, wallet_id, actor_did, route, model, replayable, state, max_cost_microusd, hold_microusd, cash_held_microusd,
  price_version_id, created_at, dispatched_at, deadline_at, overrun_microusd, review_reason, evidence)
SELECT %(name)s || n, %(wallet)s, 'did:web:a', 'chat.completions', 'fast', false, 'review', %(hold)s, %(hold)s,
       %(hold)s, %(price)s, at, at, at, 0, 'upstream_timeout', %(evidence)s::jsonb
  FROM generate_series(1, %(count)s) n, LATERAL (SELECT %(since)s + n * interval '1 millisecond' AS at) sent
"""


@pytest.fixture(autouse=True)
def _audited(transactional_db: None) -> Iterator[None]:
    yield
    assert audit.findings() == []


@pytest.fixture
def purse() -> Purse:
    """An account that can pay for whatever waits here."""
    return Purse().pay(100_000)


def backlog(purse: Purse, calls: int, evidence: str | None = None, since: datetime | None = None) -> None:
    """Create that many calls in review at once."""
    since = since or timezone.now() - timedelta(minutes=10)
    wallet = Wallet.objects.get(owner_key=purse.key)
    given: dict[str, Any] = {"name": new_id("use"), "wallet": wallet.id, "price": price_version(), "since": since}
    with connection.cursor() as cursor:
        cursor.execute(CALLS, {**given, "hold": HOLD, "count": calls, "evidence": evidence})
    wallet.held_microusd += calls * HOLD
    wallet.save(update_fields=["held_microusd"])


def states() -> Counter[str]:
    return Counter(Call.objects.values_list("state", flat=True))


def test_the_newest_with_evidence_does_not_wait_for_older_ones_without(purse: Purse) -> None:
    backlog(purse, 3000)
    newest = purse.call(HOLD)
    review(newest, evidence={"output_tokens": 11, "charge_microusd": 7})
    assert reconcile(now=timezone.now()) == 1
    assert state(newest) == "settled"
    assert states() == {"review": 3000, "settled": 1}


def test_a_backlog_is_worked_off_page_by_page(purse: Purse) -> None:
    backlog(purse, 1200, DELIVERED)
    assert reconcile(now=timezone.now()) == 1200
    assert states() == {"settled": 1200}
    assert purse.wallet.balance_microusd == 100_000 - 1200 * 7


def test_a_run_ends_in_time_and_the_next_goes_on(purse: Purse) -> None:
    backlog(purse, 600, DELIVERED)
    assert reconcile(now=timezone.now(), seconds=0) == 1
    resolved = [reconcile(now=timezone.now(), seconds=0.02) for _ in range(2)]
    assert all(resolved)
    assert sum(resolved) < 599, "a run did not end"
    assert sum(resolved) + reconcile(now=timezone.now()) == 599


def test_one_that_fails_does_not_stop_the_rest(purse: Purse, caplog: pytest.LogCaptureFixture) -> None:
    poor = purse.call(HOLD)
    review(poor, evidence={"charge_microusd": "many"})
    backlog(purse, 5, DELIVERED, timezone.now())
    assert reconcile(now=timezone.now()) == 5
    assert f"call {poor} could not be resolved" in caplog.text
    assert states() == {"review": 1, "settled": 5}
    [found] = audit.findings()
    assert (found.subject, found.detail) == (poor, f"evidence of a charge of many, hold {HOLD}")
    with unguarded():
        Call.objects.filter(pk=poor).update(evidence=None)


def test_what_has_no_evidence_for_so_long_is_released_page_by_page(purse: Purse) -> None:
    now = timezone.now()
    backlog(purse, 700, since=now - timedelta(hours=2))
    backlog(purse, 3, DELIVERED, since=now - timedelta(hours=2))
    backlog(purse, 2, since=now - timedelta(minutes=59))
    after = timedelta(hours=1)
    assert release_unresolved(now=now, after=after, seconds=0) == 1
    assert release_unresolved(now=now, after=after) == 699
    assert states() == {"released": 700, "review": 5}
    assert reconcile(now=now) == 3


def test_one_that_cannot_be_released_does_not_stop_the_rest(purse: Purse, caplog: pytest.LogCaptureFixture) -> None:
    now, other = timezone.now(), Purse().pay(100)
    stuck = other.call(HOLD)
    review(stuck)
    long_ago = now - timedelta(hours=3)
    with unguarded():
        Call.objects.filter(pk=stuck).update(created_at=long_ago, dispatched_at=long_ago)
    backlog(purse, 5, since=now - timedelta(hours=2))
    Wallet.objects.filter(owner_key=other.key).update(held_microusd=0)
    assert release_unresolved(now=now, after=timedelta(hours=1)) == 5
    assert f"call {stuck} could not be resolved" in caplog.text
    Wallet.objects.filter(owner_key=other.key).update(held_microusd=HOLD)
    assert release_unresolved(now=now, after=timedelta(hours=1)) == 1


class TestLookUps:
    """Upstreams that can be asked."""

    def test_reach_every_call_and_ask_about_none_twice_in_a_minute(self, purse: Purse) -> None:
        now, look_ups = timezone.now(), Counter[str]()
        backlog(purse, 1200)
        reviews.register(lambda call: look_ups.update([call.id]))
        for run in count(1):
            before = look_ups.total()
            reconcile(now=now + timedelta(seconds=run))
            if look_ups.total() == before:
                break
            assert look_ups.total() - before <= reviews.LOOK_UPS_MAX
        assert (len(look_ups), max(look_ups.values())) == (1200, 1)
        reconcile(now=now + timedelta(seconds=90))
        assert look_ups.total() == 1200 + reviews.LOOK_UPS_MAX

    def test_ask_ever_more_seldom(self, purse: Purse) -> None:
        sent, look_ups = timezone.now() - timedelta(minutes=10), list[datetime]()
        backlog(purse, 1, since=sent)
        for minute in range(10 * 60):
            now = sent + timedelta(minutes=minute, seconds=1)
            reviews._sources.clear()
            reviews.register(lambda call, now=now: look_ups.append(now))  # type: ignore[misc]
            reconcile(now=now)
        gaps = [later - earlier for earlier, later in pairwise(look_ups)]
        assert gaps[0] == timedelta(minutes=1)
        assert gaps == sorted(gaps)
        assert gaps[-1] >= timedelta(hours=1)
        assert next_look_up(timedelta(days=9)) == timedelta(hours=6)

    def test_a_call_with_evidence_is_looked_up_before_older_ones_without(self, purse: Purse) -> None:
        backlog(purse, 1000)
        newest = purse.call(HOLD)
        review(newest, evidence={"output_tokens": 11, "charge_microusd": 7})
        reviews.register(lambda call: Finding(5) if call.id == newest else None)
        assert reconcile(now=timezone.now()) == 1
        assert Call.objects.get(pk=newest).charge_microusd == 5

    def test_findings_that_cannot_be_booked_do_not_take_every_turn(self, purse: Purse) -> None:
        backlog(purse, reviews.LOOK_UPS_MAX)
        late = purse.call(HOLD)
        review(late)
        reviews.register(lambda call: Finding(5) if call.id == late else Finding(-1))
        now = timezone.now()
        assert [reconcile(now=now) for _ in range(2)] == [0, 1]
        assert state(late) == "settled"

    def test_nothing_is_given_up_before_a_look_up(self, purse: Purse) -> None:
        now = timezone.now()
        backlog(purse, 2, since=now - timedelta(hours=2))
        reviews.register(lambda call: None)
        assert release_unresolved(now=now, after=timedelta(hours=1)) == 0
        assert reconcile(now=now) == 0
        assert release_unresolved(now=now, after=timedelta(hours=1)) == 2
