"""Calls of dead processes: closed by what their journals say, once, and no journal of a living process is touched."""

import fcntl
import os
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.db import connection
from django.utils import timezone

from billing.models import Call
from billing.operations import closings, ledger
from billing.operations.closings import OpenCall
from billing.queries import audit
from gateway.core.runtime import logs
from inference.metering import journal, recovery
from inference.metering.journal import Journal
from inference.metering.recovery import ELSEWHERE_SECONDS, GRACE_SECONDS, UNKNOWN_SECONDS
from tests.factories.billing import ANSWER, Purse, release, review, settle, state, used_for

pytestmark = pytest.mark.django_db

NOW = timezone.now()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.CALL_JOURNAL_DIR = tmp_path
    return tmp_path


def die(made: Journal) -> None:
    """Release a journal as the end of its process does."""
    made.close()


def recovered(seconds: float) -> int:
    return recovery.recover(now=NOW + timedelta(seconds=seconds))


def test_each_stage_is_closed_as_far_as_it_is_known(folder: Path) -> None:
    purse, made = Purse().pay(1000), Journal(folder)
    held, sent, charged, gone = (purse.call(100) for _ in range(4))
    made.begin(held)
    made.begin(sent).sent()
    closing = closings.settle(
        OpenCall(purse.owner, charged, None), cost_microusd=30, basis="upstream", quantities=used_for(30)
    )
    made.begin(charged).note_closing(closing.note)
    made.begin(gone).done()
    die(made)
    assert recovered(0) == 0
    assert recovered(GRACE_SECONDS) == 3
    assert [state(call) for call in (held, sent, charged, gone)] == ["released", "review", "settled", "dispatched"]
    assert (purse.wallet.balance_microusd, purse.wallet.held_microusd) == (970, 200)
    assert list(folder.iterdir()) == []
    assert audit.findings() == []


def test_a_charge_whose_answer_was_to_be_stored_is_made_without_it(folder: Path) -> None:
    purse, made = Purse().pay(1000), Journal(folder)
    call = purse.call(100)
    closing = closings.settle(
        OpenCall(purse.owner, call, None), cost_microusd=30, basis="upstream", quantities=used_for(30), replay=ANSWER
    )
    made.begin(call).note_closing(closing.note)
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
    assert recovered(ELSEWHERE_SECONDS - 1) == 0
    assert state(call) == "dispatched"
    recovered(ELSEWHERE_SECONDS)
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


def test_a_clock_that_is_set_back_begins_the_grace_again(folder: Path) -> None:
    purse, made = Purse().pay(1000), Journal(folder)
    call = purse.call(100)
    made.begin(call)
    die(made)
    recovered(3600)
    assert recovered(0) == 0
    assert recovered(GRACE_SECONDS - 1) == 0
    assert recovered(GRACE_SECONDS) == 1
    assert state(call) == "released"
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


NOTHING_SENT = "held"
SENT = "sent"
DELIVERED = "delivered in part"
RELEASE, SETTLE, REVIEW = "to be released", "to be settled", "to be reviewed"
EVIDENCE = {"output_tokens": 30, "charge_microusd": 18}

# For what a journal says of a call (rows) and what the ledger says (columns), what the ledger says afterwards.
LEDGER = ("held", "deadline_passed", "process_died", "timed out", "released", "settled", "missing")
TABLE = {
    NOTHING_SENT: ("released", "released", "released", "timed out", "released", "settled", "missing"),
    SENT: ("process_died", "deadline_passed", "process_died", "timed out", "released", "settled", "missing"),
    DELIVERED: ("process_died", "process_died", "process_died", "timed out", "released", "settled", "missing"),
    RELEASE: ("released", "released", "released", "timed out", "released", "settled", "missing"),
    SETTLE: ("settled by 30", "settled by 30", "settled by 30", "settled by 30", "released", "settled", "missing"),
    REVIEW: ("lost", "lost", "lost", "timed out", "released", "settled", "missing"),
}
PAIRS = [(noted_as, known, row[at]) for noted_as, row in TABLE.items() for at, known in enumerate(LEDGER)]


def noted(purse: Purse, made: Journal, noted_as: str, usage_id: str) -> None:
    """Write to a journal what its process knew of a call."""
    entry, call = made.begin(usage_id), OpenCall(purse.owner, usage_id, None)
    if noted_as != NOTHING_SENT:
        entry.sent()
    if noted_as == DELIVERED:
        entry.note_closing(closings.review(call, reason="process_died", evidence=EVIDENCE).note)
    if noted_as == RELEASE:
        entry.note_closing(closings.release(call, resolution="rejected").note)
    if noted_as == SETTLE:
        charge = closings.settle(call, cost_microusd=30, basis="upstream", quantities=used_for(30))
        entry.note_closing(charge.note)
    if noted_as == REVIEW:
        entry.note_closing(closings.review(call, reason="lost", evidence=EVIDENCE).note)


def bring_to(known: str, call: str) -> None:
    """Bring a call that is held to a state, or to review for a reason."""
    if known == "deadline_passed":
        ledger.reap(limit=1, now=timezone.now() + timedelta(hours=1)).rows()
    elif known == "released":
        release(call)
    elif known == "settled":
        settle(call, 40)
    elif known != "held":
        review(call, known)


def ledger_says(usage_id: str) -> str:
    call = Call.objects.filter(pk=usage_id).first()
    if call is None:
        return "missing"
    if call.state == "settled":
        return "settled" if call.charge_microusd == 40 else f"settled by {call.charge_microusd}"
    return call.review_reason if call.state == "review" and call.review_reason else call.state


@pytest.mark.parametrize(
    ("noted_as", "known", "after"), PAIRS, ids=[f"{noted_as}, {known}" for noted_as, known, _ in PAIRS]
)
def test_whatever_the_ledger_says_meanwhile_nothing_that_the_journal_says_is_lost(
    folder: Path, noted_as: str, known: str, after: str
) -> None:
    purse, made = Purse().pay(1000), Journal(folder)
    usage_id = "use_missing" if known == "missing" else purse.call(100)
    bring_to(known, usage_id) if known != "missing" else None
    noted(purse, made, noted_as, usage_id)
    die(made)
    recovered(0)
    recovered(GRACE_SECONDS)
    assert ledger_says(usage_id) == after
    assert len(list(folder.iterdir())) == (known == "missing")  # a hold may still appear
    recovered(UNKNOWN_SECONDS + 1)
    assert ledger_says(usage_id) == after
    assert list(folder.iterdir()) == []
    spent = {"settled": 40, "settled by 30": 30}.get(after, 0)
    held = 0 if after in ("released", "settled", "settled by 30", "missing") else 100
    assert (purse.wallet.balance_microusd, purse.wallet.held_microusd) == (1000 - spent, held)
    if after == "lost" or (noted_as, after) == (DELIVERED, "process_died"):
        assert Call.objects.get(pk=usage_id).evidence == EVIDENCE
    assert audit.findings() == []


def test_a_charge_that_the_database_cannot_make_for_now_is_made_later(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    purse, made = Purse().pay(1000), Journal(folder)
    charged, unsent = purse.call(100), purse.call(100)
    noted(purse, made, SETTLE, charged)
    made.begin(unsent)
    die(made)
    recovered(0)
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE billing_usage_record RENAME TO moved_away")
        assert recovered(GRACE_SECONDS) == 1
        assert recovered(UNKNOWN_SECONDS + 1) == 1
        assert (state(charged), state(unsent)) == ("dispatched", "released")
        assert len(list(folder.iterdir())) == 1
        assert caplog.text.count(f"call {unsent} of a dead process was held: released") == 1
        assert caplog.text.count(unsent) == 1, "the second look has no news of it"
        cursor.execute("ALTER TABLE moved_away RENAME TO billing_usage_record")
    recovered(UNKNOWN_SECONDS + 2)
    assert ledger_says(charged) == "settled by 30"
    assert list(folder.iterdir()) == []
    assert audit.findings() == []


CANNOT_BE_WRITTEN = {"action": "settle", "cost": -1, "basis": "upstream", "quantities": {}}


@pytest.mark.parametrize(
    "closing",
    [
        orjson.dumps({**CANNOT_BE_WRITTEN, "usage_id": "use_bad"}),
        orjson.dumps({**CANNOT_BE_WRITTEN, "usage_id": "use_bad", "cost": 2**63}),
        b'{"action": "settle", "usage_id": "use_b',
        b'["settle", "use_bad"]',
        b'{"action": "lose", "usage_id": "use_bad"}',
        b'{"action": "settle", "usage_id": "use_bad\\u0000"}',
    ],
)
def test_a_closing_that_cannot_be_written_goes_to_review_and_keeps_no_other(folder: Path, closing: bytes) -> None:
    purse, made, others = Purse().pay(1000), Journal(folder), [Journal(folder) for _ in range(4)]
    bad, before, after = purse.call(100, usage_id="use_bad"), purse.call(100), purse.call(100)
    made.begin(before)
    made.begin(bad).note_closing(closing)
    made.begin(after)
    elsewhere = [purse.call(100) for _ in others]
    for other, call in zip(others, elsewhere, strict=True):
        other.begin(call)
        die(other)
    die(made)
    recovered(0)
    recovered(GRACE_SECONDS)
    assert {state(call) for call in (before, after, *elsewhere)} == {"released"}
    assert state(bad) == "review"
    assert list(folder.iterdir()) == []


def test_what_a_crash_of_the_machine_left_half_written_keeps_no_other(folder: Path) -> None:
    purse, made = Purse().pay(1000), Journal(folder)
    torn, whole = purse.call(100), purse.call(100)
    for usage_id in (torn, "use_\x00\x00", whole):
        made.begin(usage_id)
    data = bytearray(made.path.read_bytes())
    data[data.index(torn.encode()) - 2] = 77  # a stage that is none
    made.path.write_bytes(data)
    die(made)
    recovered(0)
    assert recovered(GRACE_SECONDS) == 2
    assert (state(torn), state(whole)) == ("review", "released")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("name", ["strange.journal", "strange.dead"])
def test_a_file_that_cannot_be_opened_stays_and_keeps_no_other(
    folder: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    purse, made = Purse().pay(1000), Journal(folder)
    call = purse.call(100)
    made.begin(call)
    die(made)
    (folder / name).mkdir()
    logs.forget()
    recovered(0)
    assert recovered(GRACE_SECONDS) == 1
    assert state(call) == "released"
    assert [path.name for path in folder.iterdir()] == [name]
    [logged] = [record for record in caplog.records if record.levelname == "ERROR"]
    assert logged.getMessage().startswith(f"{folder / name} cannot be read: [Errno 21] Is a directory")


@pytest.mark.parametrize("moment", ["open", "flock"])
def test_two_recoveries_at_once_do_each_journal_once(
    folder: Path, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    purse, made = Purse().pay(1000), Journal(folder)
    call = purse.call(100)
    made.begin(call)
    die(made)
    module = {"open": os, "flock": fcntl}[moment]
    original, overtaking = getattr(module, moment), list[float]()

    def overtaken(*args: Any) -> Any:
        """Run another whole recovery right after the file is opened, or right before it is locked."""
        opened = original(*args) if moment == "open" else None
        while overtaking:
            recovered(overtaking.pop())
        return opened if moment == "open" else original(*args)

    monkeypatch.setattr(module, moment, overtaken)
    for seconds in (0.0, GRACE_SECONDS):
        overtaking.append(seconds)
        recovered(seconds)
    assert state(call) == "released"
    assert list(folder.iterdir()) == []


def test_a_folder_that_nobody_has_made_yet_is_empty(settings: Any, tmp_path: Path) -> None:
    settings.CALL_JOURNAL_DIR = tmp_path / "none"
    assert recovery.recover(now=datetime.now(NOW.tzinfo)) == 0
