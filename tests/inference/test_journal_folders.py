"""The folders of journals that the database knows: who reads them, and which of them need a person."""

import logging
import os
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.db.models import QuerySet
from django.utils import timezone

from inference.metering import journal, journal_folder
from inference.metering.journal import Journal
from inference.metering.journal_folder import ID_FILE, FolderReports, make_id, read_id
from inference.metering.journal_reader import JournalReader
from inference.models import JournalFolder
from inference.operations import journal_folders
from inference.queries import journal_folders as queries
from tests.factories.billing import Purse
from tests.support.concurrency import at_once, eventually

pytestmark = pytest.mark.django_db(transaction=True)

MINUTE = timedelta(minutes=1)


@pytest.fixture(autouse=True)
def _no_others() -> None:
    """Forget the folder of a gateway that an earlier test file started."""
    JournalFolder.objects.all().delete()


def known(under: Path) -> QuerySet[JournalFolder]:
    """Return what the database knows under a folder: gateways that other tests have started report theirs too."""
    return JournalFolder.objects.filter(path__startswith=str(under))


def reported(folder: Path, *, serves: bool = True) -> JournalFolder:
    FolderReports(folder, serves=serves).report()
    return JournalFolder.objects.get(pk=make_id(folder))


def unread(under: Path, now: datetime) -> list[UUID]:
    return [row.pk for row in queries.alarming(now=now) if row.path.startswith(str(under))]


def age(row: JournalFolder, **times: timedelta) -> None:
    """Move times of a row into the past."""
    JournalFolder.objects.filter(pk=row.pk).update(**{name: timezone.now() - ago for name, ago in times.items()})


def test_a_folder_gets_one_id_from_many_processes_and_keeps_it(tmp_path: Path) -> None:
    [found] = set(at_once(*[lambda: make_id(tmp_path)] * 8))
    assert (read_id(tmp_path), make_id(tmp_path)) == (found, found)
    (tmp_path / ID_FILE).write_bytes(str(found).encode()[:7])
    assert read_id(tmp_path) is None
    assert make_id(tmp_path) == read_id(tmp_path) != found


def test_a_server_s_folder_is_known_before_its_first_call_and_needs_a_person_once_nobody_reads_it(
    tmp_path: Path,
) -> None:
    row = reported(tmp_path / "journal")
    assert (row.path, row.files, row.waiting_since) == (str(tmp_path / "journal"), 1, None)
    assert row.host == os.uname().nodename
    assert unread(tmp_path, row.read_at + MINUTE) == []
    assert unread(tmp_path, row.read_at + MINUTE + timedelta(seconds=1)) == [row.pk]


def test_a_worker_s_folder_without_journals_is_none(tmp_path: Path) -> None:
    FolderReports(tmp_path, serves=False).report()
    FolderReports(tmp_path / "none", serves=False).report()
    assert list(tmp_path.iterdir()) == []
    assert not known(tmp_path).exists()


def test_a_journal_that_cannot_be_closed_needs_a_person_although_it_is_read(tmp_path: Path) -> None:
    made = Journal(tmp_path)
    made.path.rename(made.path.with_suffix(".dead"))
    row = reported(tmp_path, serves=False)
    assert row.waiting_since is not None
    assert unread(tmp_path, row.read_at + timedelta(seconds=30)) == []
    os.utime(made.path.with_suffix(".dead"), (0, timezone.now().timestamp() - 601))
    assert unread(tmp_path, reported(tmp_path).read_at) == [row.pk]
    made.path.with_suffix(".dead").unlink()
    assert unread(tmp_path, reported(tmp_path).read_at) == []


def test_processes_that_stop_in_order_leave_nothing_that_needs_a_person(tmp_path: Path) -> None:
    readers = [JournalReader(tmp_path, serves=True) for _ in range(3)]
    for reader in readers:
        reader.start()
    eventually(lambda: known(tmp_path).filter(files=1).exists())
    at_once(*[reader.stop for reader in readers])
    eventually(lambda: not known(tmp_path).exists())


def test_a_journal_that_stays_keeps_its_folder_known(tmp_path: Path) -> None:
    reports, made = FolderReports(tmp_path, serves=True), Journal(tmp_path)
    reports.report()
    made.begin(Purse().pay(100).call(10))
    made.end()
    reports.leave()
    assert known(tmp_path).get().files == 1
    made.close()
    made.path.unlink()
    reports.leave()
    assert not known(tmp_path).exists()


def test_the_journal_of_a_process_ends_with_its_last_call(tmp_path: Path, settings: Any) -> None:
    journal.finish()
    settings.CALL_JOURNAL_DIR = tmp_path
    first = journal.begin("use_1")
    journal.finish()
    journal.begin("use_2").done()
    assert len(list(tmp_path.iterdir())) == 2
    journal.finish()
    [path] = tmp_path.iterdir()
    assert b"use_1" in path.read_bytes()
    first.done()
    journal.finish()


def test_one_process_names_a_folder_in_the_log_and_again_after_an_hour(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_folder, "REPORT_SECONDS", 0.0)
    monkeypatch.setattr(journal_folder, "UNREAD_AFTER", timedelta(0))
    dead, readers = reported(tmp_path / "dead"), [FolderReports(tmp_path / "living", serves=True) for _ in range(2)]
    age(dead, read_at=2 * MINUTE)

    def lines() -> list[str]:
        caplog.clear()
        for reader in readers * 2:
            reader.report()
        logged = [record.getMessage() for record in caplog.records if record.name == "inference.journals"]
        return [line for line in logged if str(tmp_path) in line]

    caplog.set_level(logging.INFO)
    [line] = lines()
    assert line.startswith(f"the journals in {tmp_path}/dead on {dead.host} (1) have been read by nobody since ")
    assert lines() == []
    age(dead, logged_at=61 * MINUTE)
    assert len(lines()) == 1
    reported(tmp_path / "dead")
    assert lines() == []
    age(dead, read_at=2 * MINUTE)
    assert len(lines()) == 1


def test_a_reader_that_could_not_report_itself_names_nobody_at_first(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_folder, "REPORT_SECONDS", 0.0)
    dead, reader = reported(tmp_path / "dead"), FolderReports(tmp_path / "living", serves=True)
    age(dead, read_at=2 * MINUTE)
    reader.report()
    reader.miss()
    monkeypatch.setattr(journal_folder, "UNREAD_AFTER", timedelta(0))
    reader.report()
    assert JournalFolder.objects.get(pk=dead.pk).logged_at is None
    reader.report()
    assert JournalFolder.objects.get(pk=dead.pk).logged_at is not None


def test_a_folder_is_forgotten_when_each_of_its_calls_has_been_decided(tmp_path: Path, settings: Any) -> None:
    row, other = reported(tmp_path / "one"), reported(tmp_path / "other")
    age(row, read_at=timedelta(hours=settings.REVIEW_RELEASE_HOURS, days=1, minutes=1))
    assert journal_folders.purge(now=timezone.now()) == 1
    assert list(known(tmp_path)) == [other]


def test_only_a_folder_that_needs_a_person_can_be_forgotten(tmp_path: Path) -> None:
    row = reported(tmp_path)
    assert not journal_folders.forget(str(row.pk), now=row.read_at)
    assert journal_folders.forget(str(row.pk), now=row.read_at + 2 * MINUTE)
    assert (unread(tmp_path, row.read_at + 2 * MINUTE), known(tmp_path).get().files) == ([], 0)
