"""The buckets of rate limits: exact bursts and refills, clocks that are set, quotas that change, and tokens that are paid back."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st
from throttled import RateLimiterType, Throttled, per_min, store

from billing.models import LimitMeter, LimitUse
from billing.operations import limits
from billing.rules.limits import UNIT, Level, counted, exceeded, stated
from gateway.core.database import purge
from tests.factories.billing import Purse, release, review, settle
from tests.factories.limits import admit, applied, element, look, meter

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
DYADIC = [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60, 120, 240, 480, 960]
"""Quotas of a minute whose intervals, and multiples of them, are exact as floats, which the oracle computes with."""

_names = (f"did:web:a:{number}" for number in count())


@pytest.fixture
def subject() -> str:
    return next(_names)


@pytest.fixture(scope="module")
def clock() -> Iterator[list[float]]:
    """Make the oracle read this clock."""
    at = [0.0]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("throttled.utils.now_mono_f", lambda: at[0])
        yield at


@settings(max_examples=60, deadline=None)
@given(
    quota=st.sampled_from(DYADIC),
    pauses=st.lists(st.integers(0, 64 * 20), min_size=1, max_size=60),
    burst=st.integers(0, 20),
)
def test_admits_what_another_library_admits(clock: list[float], quota: int, pauses: list[int], burst: int) -> None:
    """Arrivals are pauses of a 64th of a second, after a burst."""
    name = next(_names)
    oracle = Throttled(name, using=RateLimiterType.GCRA.value, quota=per_min(quota), store=store.MemoryStore())
    limit = applied("account", name, quota)
    ticks = 64 * 1000
    for pause in [0] * burst + pauses:
        ticks += pause
        clock[0] = ticks / 64
        expected = oracle.limit(name)
        found = admit(limit, now=NOW + SECOND * ticks / 64)
        assert found.is_exceeded == expected.limited
        levels = found.levels if found.is_exceeded else counted(found.levels)
        [item] = stated([limit], levels)
        refusal = exceeded([limit], found.levels)
        assert item.remaining == expected.state.remaining
        assert (refusal.retry_after_seconds if refusal else 0) == -(-expected.state.retry_after // 1)


@pytest.mark.parametrize("quota", [1, 7, 10, 600, 999_999_937, 10**9])
def test_the_burst_is_the_whole_minute_and_then_one_each_interval(subject: str, quota: int) -> None:
    limit = applied("account", subject, quota)
    meter_at(subject, requests_level=(quota - 1) * UNIT)
    assert not admit(limit, now=NOW).is_exceeded
    assert admit(limit, now=NOW).is_exceeded
    interval_microseconds = -(-60_000_000 // quota)
    early = NOW + timedelta(microseconds=interval_microseconds - 1)
    assert admit(limit, now=early).is_exceeded
    assert not admit(limit, now=NOW + timedelta(microseconds=interval_microseconds)).is_exceeded


def meter_at(subject: str, scope: str = "account", **columns: Any) -> None:
    LimitMeter.objects.create(**{"scope": scope, "subject": subject, "requests_at": NOW, "tokens_at": NOW, **columns})


def admitted(limit: Any, times: int, now: datetime) -> int:
    return sum(not admit(limit, now=now).is_exceeded for _ in range(times))


def test_a_clock_that_is_set_back_locks_nobody_out_and_gives_no_second_burst(subject: str) -> None:
    limit = applied("account", subject, 10)
    assert admitted(limit, 15, NOW) == 10
    earlier = NOW - timedelta(hours=1)
    assert admitted(limit, 15, earlier) == 0
    assert admitted(limit, 15, earlier + 5 * SECOND) == 0
    assert admitted(limit, 15, earlier + 6 * SECOND) == 1
    assert admitted(limit, 15, earlier + 66 * SECOND) == 10


def test_a_clock_that_goes_forward_and_back_gives_one_burst_more(subject: str) -> None:
    limit = applied("account", subject, 10)
    assert [admitted(limit, 15, NOW + timedelta(hours=at)) for at in (0, 1, 0, 1)] == [10, 10, 0, 10]
    assert admitted(limit, 15, NOW + timedelta(hours=1)) == 0


def test_a_lower_quota_makes_nobody_wait_longer_than_a_minute(subject: str) -> None:
    assert admitted(applied("account", subject, 600), 600, NOW) == 600
    assert admitted(applied("account", subject, 2), 3, NOW) == 0
    assert admitted(applied("account", subject, 2), 3, NOW + 30 * SECOND) == 1
    assert admitted(applied("account", subject, 600), 600, NOW + 30 * SECOND) == 598


def test_tokens_are_admitted_until_the_quota_is_used_and_paid_back(subject: str) -> None:
    limit = applied("account", subject, None, 60)
    person = Purse(key=subject).pay(10_000)
    calls = [person.call(100, did=subject, limits=element(limit), now=NOW) for _ in range(2)]
    assert admit(limit, now=NOW).levels == [Level(None, 0, None)]
    use(calls[0], 40, NOW)
    assert not admit(limit, now=NOW).is_exceeded
    use(calls[1], 50, NOW)
    assert admit(limit, now=NOW).levels == [Level(None, 90 * UNIT, None)]
    assert admit(limit, now=NOW + 30 * SECOND).is_exceeded
    assert not admit(limit, now=NOW + 31 * SECOND).is_exceeded


def use(usage_id: str, tokens: int, now: datetime) -> None:
    quantities = {"input_tokens": tokens - 10, "output_tokens": 10}
    settle(usage_id, -(-(15 * (tokens - 10) + 600) // 100), quantities=quantities, now=now)


def test_a_settlement_feeds_the_limits_that_its_call_was_admitted_under(org: Purse) -> None:
    org.pay(1000)
    limits = (
        applied("organization", org.key, None, 100),
        applied("member", "mem_1", None, 100),
        applied("client", "https://app.example", None, 100),
        applied("alias", "fast", None, 100),
    )
    admit(*limits, now=NOW, member="mem_1")
    call = org.call(100, limits=element(*limits), membership_id="mem_1", client_id="https://app.example", now=NOW)
    unlimited = org.call(100, membership_id="mem_1", client_id="https://app.example", now=NOW)
    only_requests = org.call(100, limits=element(applied("organization", org.key, 5)), now=NOW)
    for each in (call, unlimited, only_requests):
        use(each, 60, NOW)
    assert meter("organization", org.key).tokens_level == meter("member", "mem_1").tokens_level == 60 * UNIT
    shared = [("client", "https://app.example", 60), ("alias", "fast", 60)]
    assert list(LimitUse.objects.order_by("-scope").values_list("scope", "subject", "tokens")) == shared
    assert [level.tokens for level in admit(*limits, now=NOW, member="mem_1").levels] == [60 * UNIT] * 4
    assert not LimitUse.objects.exists()
    assert settle(call, 1).outcome == "already"
    assert meter("organization", org.key).tokens_level == 60 * UNIT


def test_tokens_of_a_shared_limit_drain_from_when_they_were_used() -> None:
    limit = applied("alias", "fast", None, 60)
    admit(limit, now=NOW)
    for tokens, at in ((60, 20), (30, 0)):
        LimitUse.objects.create(scope="alias", subject="fast", tokens=tokens, used_at=NOW + at * SECOND)
    [level] = admit(limit, now=NOW + 30 * SECOND).levels
    assert level.tokens == (10 + 60 - 10) * UNIT


def test_tokens_that_were_used_after_the_clock_was_set_back_count() -> None:
    limit, now = applied("alias", "fast", None, 60), timezone.now()
    admit(limit, now=now + timedelta(hours=1))
    LimitUse.objects.create(scope="alias", subject="fast", tokens=1000, used_at=now - timedelta(minutes=5))
    used = [Level(None, 1000 * UNIT, None)]
    assert look(limit, now=now).levels == used
    assert admit(limit, now=now).levels == used
    assert not LimitUse.objects.exists()


def test_an_answer_that_is_no_call_states_the_tokens_that_settled_calls_have_used() -> None:
    """It locks nothing, so they are not moved to the meter, and count nevertheless."""
    limit = applied("alias", "fast", None, 60)
    admit(limit, now=NOW)
    for tokens, at in ((60, 20), (30, 0)):
        LimitUse.objects.create(scope="alias", subject="fast", tokens=tokens, used_at=NOW + at * SECOND)
    found = look(limit, now=NOW + 30 * SECOND)
    assert (found.is_exceeded, found.levels) == (True, [Level(None, (10 + 60 - 10) * UNIT, None)])
    assert (meter("alias", "fast").tokens_level, LimitUse.objects.count()) == (0, 2)
    assert admit(limit, now=NOW + 30 * SECOND).levels == found.levels


def test_tokens_that_take_hours_to_pay_back_are_owed_though_nobody_calls_meanwhile() -> None:
    limit, hours = applied("alias", "fast", None, 60), timedelta(hours=2)
    admit(limit, now=NOW)
    for subject, tokens in (("fast", 60 * 180), ("gone", 5)):
        LimitUse.objects.create(scope="alias", subject=subject, tokens=tokens, used_at=NOW)
    assert limits.purge_uses(now=NOW + hours) == 1
    assert not LimitUse.objects.exists()
    assert not LimitMeter.objects.filter(subject="gone").exists()
    [level] = admit(limit, now=NOW + hours).levels
    assert level.tokens == 60 * 60 * UNIT


def test_tokens_behind_many_of_no_limit_are_owed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(purge, "BATCH", 2)
    monkeypatch.setattr(limits, "BATCH", 2)
    limit, hours = applied("alias", "fast", None, 60), timedelta(hours=2)
    admit(limit, now=NOW)
    for subject, tokens in (("gone", 5), ("gone", 5), ("fast", 60 * 180), ("gone", 5)):
        LimitUse.objects.create(scope="alias", subject=subject, tokens=tokens, used_at=NOW)
    assert [limits.purge_uses(now=NOW + hours) for _ in range(3)] == [2, 1, 0]
    [level] = admit(limit, now=NOW + hours).levels
    assert level.tokens == 60 * 60 * UNIT


def test_a_released_call_uses_no_tokens(subject: str) -> None:
    limit = applied("account", subject, None, 60)
    admit(limit, now=NOW)
    release(Purse(key=subject).pay(100).call(10, did=subject, limits=element(limit), now=NOW))
    assert meter("account", subject).tokens_level == 0


@pytest.mark.parametrize(("quota", "seconds"), [(60, 60), (6, 60), (600, 60)])
def test_a_debt_of_tokens_takes_as_long_at_another_quota(subject: str, quota: int, seconds: int) -> None:
    meter_at(subject, tokens_level=119 * UNIT, tokens_quota=60)
    limit = applied("account", subject, None, quota)
    [item] = stated([limit], admit(limit, now=NOW).levels)
    assert (item.remaining, abs((item.reset_seconds or 0) - seconds) <= 10) == (0, True)


def test_huge_numbers_fit(subject: str) -> None:
    limit = applied("account", subject, 10**9, 10**9, 10**9)
    meter_at(subject, requests_level=10**9 * UNIT, tokens_level=6 * 10**18, tokens_quota=1)
    call = Purse(key=subject).pay(100).call(10, did=subject, limits=element(limit), now=NOW)
    settle(call, 1, quantities={"input_tokens": 2 * 10**9, "output_tokens": 2 * 10**9}, now=NOW)
    assert meter("account", subject).tokens_level == 6 * 10**18
    found = admit(limit, now=NOW + timedelta(days=400))
    assert found.levels == [Level(0, 6 * 10**18, 0)]
    assert found.is_exceeded


def test_calls_at_once_are_those_that_are_open(org: Purse) -> None:
    org.pay(1000)
    other = Purse().pay(1000)
    counted = element(applied("alias", "fast", concurrent=9))
    mine = [org.call(1, membership_id="mem_1", client_id="https://app.example", limits=counted) for _ in range(3)]
    org.call(1, membership_id="mem_2", limits=counted)
    other.call(1, client_id="https://app.example", limits=counted)
    org.call(1, membership_id="mem_1")  # began under no limit of calls at once
    limits = (
        applied("organization", org.key, concurrent=9),
        applied("member", "mem_1", concurrent=9),
        applied("client", "https://app.example", concurrent=9),
        applied("alias", "fast", concurrent=9),
    )
    counts = lambda: [level.concurrent for level in admit(*limits, now=NOW, owner=org.owner, member="mem_1").levels]  # noqa: E731
    assert counts() == [4, 3, 4, 5]
    settle(mine[0], 1)
    release(mine[1])
    review(mine[2])
    assert counts() == [1, 0, 1, 2]
