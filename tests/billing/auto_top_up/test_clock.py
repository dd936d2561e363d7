"""A charge at the clock's edge: its lease has just ended, the clock jumps, a process was stopped. It is made once, and booked once."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial

import pytest
from django.db import connection
from pytest_django import Settings

from accounts.models import Account
from billing.operations import auto_top_up_charges, auto_top_ups, checkouts
from billing.operations.auto_top_up_charges import MAY_ARRIVE
from billing.operations.deadlines import deadline
from billing.operations.off_session import SEND_SECONDS
from billing.queries import audit
from billing.queries import auto_top_ups as queries
from billing.rules.auto_top_ups import BLOCKED_FOR
from billing.rules.charges import CHECK_MAX, CHECK_MIN, KEY_LIFETIME
from billing.rules.months import month_around
from tests.billing.auto_top_up.saver import INTENTS, USD, Saver
from tests.support.concurrency import PATIENCE_SECONDS, at_once
from tests.support.stripe import FakeStripe
from tests.support.stripe.behaviours import Gate

pytestmark = pytest.mark.django_db(transaction=True)

TICK = timedelta(microseconds=1)
SECOND = timedelta(seconds=1)
DAY = timedelta(days=1)


@pytest.fixture
def low(provider: FakeStripe, settings: Settings) -> Iterator[Saver]:
    """Make a charge due, for a provider whose answers are waited for."""
    settings.STRIPE_TIMEOUT_SECONDS = PATIENCE_SECONDS
    saver = Saver(provider)
    saver.save_method()
    saver.spend(6 * USD)
    saver.enable()
    yield saver
    assert audit.findings() == []


@contextmanager
def under_way(
    saver: Saver,
    gate: Gate,
    method: str = "POST",
    *,
    path: str = INTENTS,
    preset: str | None = None,
    later: timedelta = timedelta(0),
) -> Iterator[Future[dict[str, int]]]:
    """Run the job in another thread, and hold its request; it goes on when the block ends."""
    saver.provider.script(preset, method=method, path=path, gate=gate)
    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(send_all, saver.now + later)
        assert gate.is_reached.wait(PATIENCE_SECONDS)
        try:
            yield running
        finally:
            gate.open()


def send_all(now: datetime) -> dict[str, int]:
    """Run the job on a connection of its thread."""
    try:
        return auto_top_up_charges.send_all(now=now)
    finally:
        connection.close()


def posts(saver: Saver) -> list[str | None]:
    """List the idempotency keys of the requests to charge."""
    return [one.idempotency_key for one in saver.provider.requests if (one.method, one.path) == ("POST", INTENTS)]


def lose_request(saver: Saver) -> datetime:
    """Lose the first request on its way; return when its lease ends."""
    saver.provider.script("drop-request", method="POST", path=INTENTS)
    assert saver.run() == {}
    [charge] = saver.charges
    assert charge.next_check_at == saver.now + CHECK_MIN
    return saver.now + CHECK_MIN


def assert_charged_once(saver: Saver) -> None:
    [charge] = saver.charges
    assert set(posts(saver)) == {charge.pk}
    assert (saver.outcomes, saver.paid, saver.booked, saver.events) == (["succeeded"], [20], [20], ["charged"])
    assert saver.balance == 24


def test_a_lease_ends_at_its_very_tick(low: Saver) -> None:
    over = lose_request(low)
    seen = len(low.provider.requests)
    send_all(over - TICK)
    assert len(low.provider.requests) == seen
    assert send_all(over)["succeeded"] == 1
    assert_charged_once(low)


def test_of_workers_at_the_edge_one_asks(low: Saver) -> None:
    over = lose_request(low)
    seen = len(posts(low))
    at_once(*(partial(send_all, now) for now in (over, over, over + TICK, over + TICK)))
    assert len(posts(low)) == seen + 1
    assert_charged_once(low)


@pytest.mark.parametrize("jump", [CHECK_MIN, KEY_LIFETIME + SECOND, 40 * DAY, -CHECK_MAX, -DAY], ids=str)
@pytest.mark.parametrize("is_answered", [False, True], ids=["in flight", "answered"])
def test_a_clock_that_jumps_while_a_charge_is_under_way_charges_once(
    low: Saver, jump: timedelta, is_answered: bool
) -> None:
    with under_way(low, Gate(is_answered=is_answered)):
        for later in (jump, jump + SECOND, jump + MAY_ARRIVE - SECOND):
            send_all(low.now + later)
            assert auto_top_ups.begin_missed(now=low.now + later) == 0 or low.outcomes == ["succeeded"]
    low.run(max(jump, CHECK_MIN) + CHECK_MAX)
    assert_charged_once(low)


def turned_off(saver: Saver) -> None:
    saver.enable(is_enabled=False)


def suspended(saver: Saver, *, since: datetime | None) -> None:
    Account.objects.filter(did=saver.did).update(suspended_at=since)


def filled_by_hand(saver: Saver) -> None:
    """Pay 50 dollars at a checkout, which is booked."""
    checkout = saver.begin("top_up", 50 * USD)
    saver.provider.pay(str(checkout.session_ref))
    checkouts.converge(checkout, now=saver.now)


@pytest.mark.parametrize("what", [turned_off, filled_by_hand])
def test_a_request_that_is_under_way_is_not_given_up_because_the_clock_jumps(
    low: Saver, what: Callable[[Saver], None]
) -> None:
    with under_way(low, Gate()):
        what(low)
        for later in (DAY, DAY + SECOND, DAY + MAY_ARRIVE - SECOND):
            assert (send_all(low.now + later)["failed"], low.outcomes) == (0, ["sending"])
    assert (low.outcomes, low.paid, low.booked) == (["succeeded"], [20], [20])


def test_a_request_that_was_lost_is_given_up_in_the_end_though_the_clock_is_set_back(low: Saver) -> None:
    lose_request(low)
    turned_off(low)
    for later in (DAY, -DAY, MAY_ARRIVE, MAY_ARRIVE + CHECK_MIN):
        assert (send_all(low.now + later)["failed"], low.outcomes) == (0, ["sending"])
    assert send_all(low.now + 2 * MAY_ARRIVE + 2 * CHECK_MIN)["failed"] == 1
    assert (low.outcomes, low.paid, low.booked) == (["never_made"], [], [])


def test_a_clock_that_is_set_back_by_a_day_delays_no_charge_by_a_day(low: Saver) -> None:
    lose_request(low)
    assert send_all(low.now - DAY)["succeeded"] == 1
    assert_charged_once(low)


def test_a_process_that_was_stopped_too_long_does_not_send(low: Saver, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as stopped:
        stopped.setattr(auto_top_up_charges, "SEND_SECONDS", -1.0)  # so long ago it took the charge
        assert low.run() == {}
        assert low.run(CHECK_MIN) == {}
    assert (low.outcomes, posts(low)) == (["sending"], [])
    assert low.run(2 * CHECK_MIN) == {"succeeded": 1}
    assert_charged_once(low)


def test_a_run_that_was_stopped_does_not_give_up_what_another_sends(low: Saver) -> None:
    low.save_method("takes_its_time")
    lose_request(low)
    turned_off(low)
    low.run(MAY_ARRIVE)
    low.now += MAY_ARRIVE
    with under_way(low, Gate(is_answered=True), "GET") as stopped:  # the provider's answer is that there is none
        low.enable()
        low.run(MAY_ARRIVE)
        assert low.outcomes == ["processing"]
    assert stopped.result()["failed"] == 0
    [charge] = low.charges
    low.provider.end_charge(str(charge.payment_ref))
    low.run(DAY)
    assert_charged_once(low)


def test_a_process_that_was_stopped_for_a_day_while_it_sent_sends_nothing_again(low: Saver) -> None:
    with under_way(low, Gate(), preset="drop-request") as stopped:  # its connection is gone when it goes on
        assert send_all(low.now + CHECK_MIN)["succeeded"] == 1
        low.provider.api.idempotency.forget()
    assert stopped.result()["succeeded"] == 0
    assert_charged_once(low)


def test_the_time_for_which_a_machine_was_suspended_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    is_late, read = deadline(SEND_SECONDS), time.clock_gettime
    suspended = 2 * SEND_SECONDS  # CLOCK_MONOTONIC stands still meanwhile
    monkeypatch.setattr(time, "clock_gettime", lambda clock: read(clock) + suspended * (clock == time.CLOCK_BOOTTIME))
    assert is_late()


def test_a_run_that_was_stopped_before_it_took_a_charge_does_not_take_it_from_another(low: Saver) -> None:
    other = Saver(low.provider)
    other.save_method()
    lose_request(low)
    turned_off(low)
    low.run(MAY_ARRIVE)  # it is missing for the first time
    other.spend(6 * USD)
    other.enable()
    low.now += MAY_ARRIVE
    gate = Gate()
    with under_way(low, gate, "GET", path="/v1/checkout/sessions/*") as stopped:  # it has read both charges
        turned_off(other)
        low.enable()
        with under_way(low, Gate(), later=CHECK_MAX + timedelta(hours=1)):
            turned_off(low)
            gate.open()
            assert (stopped.result(PATIENCE_SECONDS)["failed"], low.outcomes) == (0, ["sending"])
    low.run(DAY)
    assert_charged_once(low)


def test_a_booking_by_a_process_whose_clock_is_slow_counts_in_the_month_of_the_charge(low: Saver) -> None:
    low.now = month_around(low.now)[1]  # the first instant of the next month
    low.enable()
    with under_way(low, Gate(is_answered=True)):
        [charge] = low.charges
        auto_top_up_charges.converge(charge, now=low.now - 2 * SECOND)
    assert_charged_once(low)
    assert queries.used_microusd(charge.wallet_id, low.now) == 20 * USD


def test_a_clock_that_was_ahead_keeps_no_owner_from_being_charged(low: Saver) -> None:
    suspended(low, since=low.now)
    send_all(low.now + 40 * DAY)
    suspended(low, since=None)
    assert low.charges == []
    assert auto_top_ups.begin_missed(now=low.now + BLOCKED_FOR) == 1
    assert low.run(BLOCKED_FOR) == {"succeeded": 1}
    assert_charged_once(low)


def test_a_clock_that_was_ahead_keeps_no_owner_from_trying_again(low: Saver) -> None:
    low.save_method("card_declined")
    assert send_all(low.now + DAY)["failed"] == 1
    low.enable()
    assert sorted(low.outcomes) == ["card_declined", "waiting"]
