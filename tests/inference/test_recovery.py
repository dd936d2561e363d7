"""Calls of dead processes: closed by what their journals say, once, and no journal of a living process is touched."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from billing.operations import closings
from billing.queries import audit
from inference.operations import journal, recovery
from inference.operations.journal import Journal
from inference.operations.recovery import GRACE_SECONDS, UNKNOWN_SECONDS
from tests.factories.billing import ANSWER, Purse, settle, state, used_for

pytestmark = pytest.mark.django_db

NOW = timezone.now()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.CALL_JOURNAL_DIR = tmp_path
    return tmp_path


def die(made: Journal) -> None:
    """Let go of a journal as the end of its process does."""
    made.close()


def recovered(seconds: float) -> int:
    return recovery.recover(now=NOW + timedelta(seconds=seconds))


def test_each_stage_is_closed_as_far_as_it_is_known(folder: Path) -> None:
    purse, made = Purse().pay(1000), Journal(folder)
    held, sent, charged, gone = (purse.call(100) for _ in range(4))
    made.begin(held)
    made.begin(sent).sent()
    closing = closings.settle(
        owner=purse.owner, usage_id=charged, cost_microusd=30, basis="upstream", quantities=used_for(30)
    )
    made.begin(charged).closing(closing.arguments)
    made.begin(gone).done()
    die(made)
    assert recovered(0) == 0
    assert recovered(GRACE_SECONDS) == 3
    assert [state(call) for call in (held, sent, charged, gone)] == ["released", "review", "settled", "dispatched"]
    assert (purse.wallet.balance_microusd, purse.wallet.held_microusd) == (970, 200)
    assert list(folder.iterdir()) == []
    assert audit.findings() == []


def test_a_charge_whose_answer_was_to_be_kept_is_made_without_it(folder: Path) -> None:
    purse, made = Purse().pay(1000), Journal(folder)
    call = purse.call(100)
    closing = closings.settle(
        owner=purse.owner, usage_id=call, cost_microusd=30, basis="upstream", quantities=used_for(30), replay=ANSWER
    )
    made.begin(call).closing(closing.arguments)
    die(made)
    recovered(0)
    recovered(GRACE_SECONDS)
    assert state(call) == "settled"
    assert audit.findings() == []


def test_a_living_process_is_left_alone(folder: Path) -> None:
    purse, made = Purse().pay(1000), Journal(folder)
    call = purse.call(100)
    made.begin(call)
    recovered(0)
    assert recovered(3600) == 0
    assert state(call) == "dispatched"
    assert made.path.exists()


def test_after_another_boot_nothing_counts_as_not_sent(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    purse, made = Purse().pay(1000), Journal(folder)
    call = purse.call(100)
    made.begin(call)
    die(made)
    monkeypatch.setattr(journal, "boot_id", lambda: b"another")
    recovered(0)
    recovered(GRACE_SECONDS)
    assert state(call) == "review"


def test_a_hold_that_is_not_there_yet_is_looked_for_again(folder: Path) -> None:
    purse, made = Purse().pay(1000), Journal(folder)
    made.begin("use_late")
    die(made)
    recovered(0)
    assert recovered(GRACE_SECONDS) == 0
    call = purse.call(100, usage_id="use_late")
    assert recovered(GRACE_SECONDS + 1) == 1
    assert state(call) == "released"
    assert list(folder.iterdir()) == []


def test_a_hold_that_never_was_is_forgotten_in_the_end(folder: Path) -> None:
    made = Journal(folder)
    made.begin("use_never")
    die(made)
    recovered(0)
    recovered(GRACE_SECONDS)
    assert len(list(folder.iterdir())) == 1
    recovered(UNKNOWN_SECONDS + 1)
    assert list(folder.iterdir()) == []


def test_what_somebody_else_has_closed_stays_closed(folder: Path) -> None:
    purse, made = Purse().pay(1000), Journal(folder)
    call = purse.call(100)
    made.begin(call).sent()
    settle(call, 40)
    die(made)
    recovered(0)
    recovered(GRACE_SECONDS)
    assert state(call) == "settled"
    assert purse.wallet.balance_microusd == 960


def test_a_folder_that_nobody_has_made_yet_is_empty(settings: Any, tmp_path: Path) -> None:
    settings.CALL_JOURNAL_DIR = tmp_path / "none"
    assert recovery.recover(now=datetime.now(NOW.tzinfo)) == 0
