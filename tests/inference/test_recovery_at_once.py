"""Recovery beside the reaper, the operator and itself, and killed at each of its steps: each call ends once, as it should."""

import os
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from billing.models import Call, Transfer
from billing.operations import closings, ledger, reviews
from billing.operations.closings import OpenCall
from inference.metering import recovery
from inference.metering.journal import Journal
from inference.metering.recovery import GRACE_SECONDS
from tests.billing.conftest import unsound
from tests.factories.billing import Purse, state, used_for
from tests.support import forked
from tests.support.concurrency import PATIENCE_SECONDS, at_once
from tests.support.database import connect, database_url

pytestmark = pytest.mark.django_db(transaction=True)

CALLS = 12
LATER = timedelta(hours=1)


def unsent(purse: Purse, folder: Path, calls: int) -> list[str]:
    """Leave the journal of a dead process that had placed holds and sent nothing."""
    made, usage_ids = Journal(folder), [purse.call(10) for _ in range(calls)]
    for usage_id in usage_ids:
        made.begin(usage_id)
    made.close()
    recovery.recover(now=timezone.now(), folder=folder)
    return usage_ids


def recover(folder: Path) -> Callable[[], int]:
    return lambda: recovery.recover(now=timezone.now() + timedelta(seconds=GRACE_SECONDS), folder=folder)


def reap() -> None:
    for _ in range(CALLS):
        ledger.reap(limit=1, now=timezone.now() + LATER).rows()


def test_each_call_ends_once_beside_the_reaper_and_the_operator(tmp_path: Path) -> None:
    purse = Purse().pay(1000)
    calls = unsent(purse, tmp_path, CALLS)
    charge = [lambda call=call: reviews.charge(call, cost_microusd=3) for call in calls[::2]]
    refuse = [lambda call=call: reviews.release(call) for call in calls[1::2]]
    at_once(recover(tmp_path), reap, recover(tmp_path), *charge, recover(tmp_path), *refuse)
    recover(tmp_path)()
    ended = [state(call) for call in calls]
    assert set(ended) <= {"released", "settled"}
    charged = [transfer.amount_microusd for transfer in Transfer.objects.filter(kind="charge")]
    assert charged == [3] * ended.count("settled")
    assert (purse.wallet.balance_microusd, purse.wallet.held_microusd) == (1000 - sum(charged), 0)
    assert list(tmp_path.iterdir()) == []
    assert unsound() == []


@pytest.mark.parametrize(("closing", "after"), [(None, "released"), (b"{", "review")], ids=["unsent", "bad closing"])
def test_a_wallet_that_is_locked_for_long_delays_no_other_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, closing: bytes | None, after: str
) -> None:
    monkeypatch.setattr(recovery, "LOCK_SECONDS", 0.05)
    stuck, free = Purse().pay(100), Purse().pay(100)
    made, [one, other] = Journal(tmp_path), [purse.call(10) for purse in (stuck, free)]
    entry, _ = made.begin(one), made.begin(other)
    if closing:
        entry.note_closing(closing)
    made.close()
    recovery.recover(now=timezone.now(), folder=tmp_path)
    with connect() as locking, locking.transaction():
        locking.execute("SELECT FROM billing_wallet WHERE owner_key = %s FOR UPDATE", [stuck.key])
        assert recover(tmp_path)() == 1
    assert [state(one), state(other)] == ["dispatched", "released"]
    assert recover(tmp_path)() == 2
    assert state(one) == after
    assert list(tmp_path.iterdir()) == []


def test_killed_before_each_of_its_steps_it_is_finished_by_the_next(tmp_path: Path) -> None:
    purse, made = Purse().pay(1000), Journal(tmp_path)
    unsent, late, sent, charged = (purse.call(100, deadline_seconds=seconds) for seconds in (120, 0, 120, 120))
    ledger.reap(limit=10).rows()
    assert state(late) == "review"
    for usage_id in (unsent, late):
        made.begin(usage_id)
    made.begin(sent).sent()
    closing = closings.settle(
        OpenCall(purse.owner, charged, None), cost_microusd=30, basis="upstream", quantities=used_for(30)
    )
    made.begin(charged).note_closing(closing.note)
    made.close()
    command = [sys.executable, "-m", "tests.faults.crashing_recovery", str(tmp_path)]
    environment = {**os.environ, "DATABASE_URL": database_url()}
    done = forked.run(command, env=environment, timeout=PATIENCE_SECONDS)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 8
    assert [state(call) for call in (unsent, late, sent, charged)] == ["released", "released", "review", "settled"]
    assert Call.objects.get(pk=sent).review_reason == "process_died"
    assert [transfer.amount_microusd for transfer in Transfer.objects.filter(kind="charge")] == [30]
    assert (purse.wallet.balance_microusd, purse.wallet.held_microusd) == (970, 100)
    assert list(tmp_path.iterdir()) == []
    assert unsound() == []
