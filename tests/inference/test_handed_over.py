"""The folder of a machine that is gone: a copy of it is read on another machine, and each call is closed once."""

import os
import shutil
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from billing.models import Call, Transfer
from billing.operations import closings, ledger
from billing.operations.closings import OpenCall
from inference.metering import recovery
from inference.metering.journal import Journal
from inference.metering.journal_folder import FolderReports
from inference.models import JournalFolder
from inference.queries import journal_folders
from tests.billing.conftest import unsound
from tests.factories.billing import Purse, settle, state, used_for
from tests.support import forked
from tests.support.concurrency import PATIENCE_SECONDS, at_once
from tests.support.database import connect, database_url

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _no_others() -> None:
    """Forget the folder of a gateway that an earlier test file started."""
    JournalFolder.objects.all().delete()


class Machine:
    """A machine with a wallet's calls in progress: one was not sent, one was sent, one was about to be charged, one is closed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.purse, self.journal = Purse().pay(1000), Journal(folder)
        self.calls = self.unsent, self.sent, self.charged, self.late, self.over = [
            self.purse.call(100, deadline_seconds=seconds) for seconds in (120, 120, 120, 0, 120)
        ]
        ledger.reap(limit=10).rows()
        settle(self.over, 7, quantities=used_for(7))
        FolderReports(folder, serves=True).report()
        for call in (self.unsent, self.late):
            self.journal.begin(call)
        self.journal.begin(self.sent).sent()
        self.charge(self.charged, 30)
        self.charge(self.over, 9)  # as if its process had not learned that it is closed

    def charge(self, call: str, cost: int) -> None:
        """Note that a call is about to be charged."""
        found = closings.settle(
            OpenCall(self.purse.owner, call, None), cost_microusd=cost, basis="upstream", quantities=used_for(cost)
        )
        self.journal.begin(call).note_closing(found.note)

    def copy(self, to: Path) -> Path:
        """Copy its folder, as it is then."""
        return Path(shutil.copytree(self.folder, to))

    def die(self) -> None:
        """End its processes more than a minute ago."""
        self.journal.close()
        self.vanish()

    def vanish(self) -> None:
        """Have it reported last two minutes ago."""
        JournalFolder.objects.filter(path=self.folder).update(read_at=timezone.now() - timedelta(minutes=2))

    def states(self) -> list[str]:
        """Return the states of its calls."""
        return [state(call) for call in self.calls]

    def assert_closed_once(self) -> None:
        """Check states and money."""
        assert self.states() == ["review", "review", "settled", "review", "settled"]
        assert Call.objects.get(pk=self.unsent).review_reason == "process_died"
        charged = Transfer.objects.filter(kind="charge").order_by("amount_microusd")
        assert [transfer.amount_microusd for transfer in charged] == [7, 30]
        assert (self.purse.wallet.balance_microusd, self.purse.wallet.held_microusd) == (963, 300)
        assert unsound() == []


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "machine")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def alarming() -> bool:
    return journal_folders.alarming(now=timezone.now()).exists()


def test_a_copy_may_be_read_again_and_is_not_changed(
    machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.die()
    copy = machine.copy(tmp_path / "copy")
    before = contents(copy)
    assert alarming()
    call_command("read_journals", str(copy))
    assert capsys.readouterr().out == (
        "Journals: 1. Calls: 1 closed before, 1 decided before, 2 left to review, 1 charged.\n"
        "The copy is not needed any more.\n"
    )
    machine.assert_closed_once()
    assert not alarming()
    call_command("read_journals", str(copy))
    assert capsys.readouterr().out.startswith("Journals: 1. Calls: 2 closed before, 3 decided before.\n")
    machine.assert_closed_once()
    assert contents(copy) == before


def test_copy_and_original_may_be_read_at_once(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "is_of_this_boot", lambda data: False)  # as on another machine that shares the folder
    machine.die()
    copy, later = machine.copy(tmp_path / "copy"), timezone.now() + timedelta(minutes=1)
    recovery.recover(now=timezone.now(), folder=machine.folder)
    read = [lambda: call_command("read_journals", str(copy))] * 2
    at_once(*read, *[lambda: recovery.recover(now=later, folder=machine.folder)] * 2)
    machine.assert_closed_once()


def test_killed_before_each_of_its_steps_it_is_finished_by_the_next(machine: Machine, tmp_path: Path) -> None:
    machine.die()
    copy = machine.copy(tmp_path / "copy")
    command = [sys.executable, "-m", "tests.faults.crashing_recovery", str(copy), "handed over"]
    environment = {**os.environ, "DATABASE_URL": database_url()}
    done = forked.run(command, env=environment, timeout=PATIENCE_SECONDS)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 8
    machine.assert_closed_once()
    assert not alarming()


def test_a_process_that_lives_all_the_same_closes_its_calls_and_gives_nothing_away(
    machine: Machine, tmp_path: Path
) -> None:
    copy = machine.copy(tmp_path / "copy")
    machine.vanish()  # it is cut off, and comes back
    call_command("read_journals", str(copy))
    for call, cost in ((machine.unsent, 11), (machine.sent, 12)):
        settle(call, cost, quantities=used_for(cost))
    assert machine.states() == ["settled", "settled", "settled", "review", "settled"]
    assert machine.purse.wallet.balance_microusd == 1000 - 7 - 30 - 11 - 12
    assert unsound() == []


def test_a_folder_whose_machine_lives_is_refused(machine: Machine, tmp_path: Path, settings: Any) -> None:
    copy = machine.copy(tmp_path / "copy")
    with pytest.raises(CommandError, match="has read this folder"):
        call_command("read_journals", str(copy))
    machine.vanish()
    with pytest.raises(CommandError, match=rf"their processes live: {machine.journal.path.name}"):
        call_command("read_journals", str(machine.folder))
    settings.CALL_JOURNAL_DIR = machine.folder
    with pytest.raises(CommandError, match="the folder of this machine"):
        call_command("read_journals", str(machine.folder))
    with pytest.raises(CommandError, match="is not a folder"):
        call_command("read_journals", str(tmp_path / "none"))
    assert machine.states() == ["dispatched", "dispatched", "dispatched", "review", "settled"]
    assert alarming()


def test_a_journal_that_was_cut_off_while_it_was_copied_is_named_and_its_folder_still_waits(
    machine: Machine, tmp_path: Path
) -> None:
    machine.die()
    copy = machine.copy(tmp_path / "copy")
    [path] = copy.glob("*.journal")
    whole = path.read_bytes()
    for missing in (1, 1023, 1024, 1025, 100_000):
        path.write_bytes(whole[:-missing])
        with pytest.raises(CommandError, match=f"Cut off, so that calls may be missing: {path.name}"):
            call_command("read_journals", str(copy))
        assert alarming()
    path.write_bytes(whole)
    call_command("read_journals", str(copy))
    machine.assert_closed_once()
    assert not alarming()


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "journals").mkdir()
    with pytest.raises(CommandError, match="is not a copy of a folder of journals"):
        call_command("read_journals", str(tmp_path))


def test_a_call_that_cannot_be_closed_is_named_and_its_folder_still_waits(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(recovery, "LOCK_SECONDS", 0.05)
    machine.journal.begin("use_never").sent()
    machine.die()
    copy = machine.copy(tmp_path / "copy")
    with connect() as locking, locking.transaction():
        locking.execute("SELECT FROM billing_wallet WHERE owner_key = %s FOR UPDATE", [machine.purse.key])
        with pytest.raises(CommandError, match=f"Run this again: .*{machine.charged}"):
            call_command("read_journals", str(copy))
    assert "The ledger does not know: use_never\n" in capsys.readouterr().out
    assert machine.states() == ["dispatched", "dispatched", "dispatched", "review", "settled"]
    assert alarming()
    call_command("read_journals", str(copy))
    machine.assert_closed_once()
    assert not alarming()
