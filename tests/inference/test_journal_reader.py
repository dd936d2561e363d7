"""The reader of a machine's journals: it goes on after every failure, and ends with its process."""

import shutil
import threading
from pathlib import Path

import pytest
from django.db.backends.base.base import BaseDatabaseWrapper

from inference.metering import journal_reader, recovery
from inference.metering.journal import Journal
from inference.metering.journal_reader import JournalReader
from tests.billing.conftest import unsound
from tests.factories.billing import Purse, state
from tests.support.concurrency import eventually
from tests.support.database import connect
from tests.support.journals import journals_in

pytestmark = pytest.mark.django_db(transaction=True)

KILL_WAITING = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
 WHERE datname = current_database() AND state = 'active' AND wait_event_type = 'Lock'
"""


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_reader, "READ_SECONDS", 0.01)
    monkeypatch.setattr(recovery, "GRACE_SECONDS", 0)


@pytest.fixture
def reader(tmp_path: Path) -> JournalReader:
    return JournalReader(tmp_path)


def leave(folder: Path, purse: Purse) -> str:
    """Leave the journal of a dead process with a call that was not sent."""
    made, call = Journal(folder), purse.call(10)
    made.begin(call)
    made.close()
    return call


def test_closes_what_is_there_and_what_comes_later_until_it_is_stopped(tmp_path: Path, reader: JournalReader) -> None:
    purse = Purse().pay(100)
    first = leave(tmp_path, purse)
    reader.start()
    eventually(lambda: state(first) == "released")
    second = leave(tmp_path, purse)
    eventually(lambda: state(second) == "released")
    reader.stop()
    third = leave(tmp_path, purse)
    assert state(third) == "dispatched"
    assert purse.wallet.held_microusd == 10


def test_goes_on_when_its_database_connection_is_killed(tmp_path: Path, reader: JournalReader) -> None:
    purse = Purse().pay(100)
    call = leave(tmp_path, purse)
    with connect() as locking, connect(autocommit=True) as killing:
        locking.execute("SELECT FROM billing_wallet WHERE owner_key = %s FOR UPDATE", [purse.key])
        reader.start()
        eventually(lambda: killing.execute(KILL_WAITING).fetchall())
    eventually(lambda: state(call) == "released")
    eventually(lambda: not journals_in(tmp_path))
    reader.stop()
    assert unsound() == []


def test_goes_on_when_its_database_connection_cannot_be_closed(
    tmp_path: Path, reader: JournalReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    purse, failures, close = Purse().pay(100), [OSError("the first"), OSError("the second")], BaseDatabaseWrapper.close

    def fail_at_first(connection: BaseDatabaseWrapper) -> None:
        close(connection)
        if failures and threading.current_thread() is not threading.main_thread():
            raise failures.pop()

    monkeypatch.setattr(BaseDatabaseWrapper, "close", fail_at_first)
    first = leave(tmp_path, purse)
    reader.start()
    eventually(lambda: state(first) == "released")
    second = leave(tmp_path, purse)
    eventually(lambda: state(second) == "released")
    reader.stop()


def test_two_readers_of_one_folder_close_each_call_once(tmp_path: Path, reader: JournalReader) -> None:
    purse, other = Purse().pay(1000), JournalReader(tmp_path)
    reader.start()
    other.start()
    calls = [leave(tmp_path, purse) for _ in range(20)]
    eventually(lambda: {state(call) for call in calls} == {"released"})
    eventually(lambda: not journals_in(tmp_path))
    reader.stop()
    other.stop()
    assert purse.wallet.held_microusd == 0
    assert unsound() == []


def test_goes_on_when_its_folder_is_removed_and_made_again(tmp_path: Path, reader: JournalReader) -> None:
    purse = Purse().pay(100)
    reader.start()
    shutil.rmtree(tmp_path)
    call = leave(tmp_path, purse)
    eventually(lambda: state(call) == "released")
    reader.stop()


def test_one_that_was_never_started_can_be_stopped(reader: JournalReader) -> None:
    reader.stop()
