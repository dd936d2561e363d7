"""Alarms are written in the background, and none is lost while the database is unavailable."""

from datetime import UTC, datetime
from threading import Event

import pytest
from django.db import OperationalError

from inference.metering import notes as waiting
from inference.metering.notes import Note, Notes
from tests.support.concurrency import eventually

AT = datetime(2026, 1, 1, tzinfo=UTC)


def test_alarms_that_could_not_be_written_are_written_with_the_next() -> None:
    written: list[tuple[str, Note]] = []
    failed = Event()

    def write(upstream: str, note: Note) -> None:
        if not failed.is_set():
            failed.set()
            raise OperationalError("away")
        written.append((upstream, note))

    notes = Notes(write)
    notes.add("primary", Note("first", AT, 1))
    eventually(lambda: failed.is_set() and not notes.is_writing)
    notes.add("primary", Note("second", AT, 1))
    eventually(lambda: bool(written))
    assert written[0][0] == "primary"
    assert written[0][1].count == 2


def test_adding_an_alarm_does_not_wait_for_the_write() -> None:
    may_write, begun = Event(), Event()

    def write(upstream: str, note: Note) -> None:
        begun.set()
        may_write.wait()

    notes = Notes(write)
    for _ in range(100):
        notes.add("primary", Note("text", AT, 1))
    begun.wait()
    may_write.set()


def test_an_upstream_that_invents_kinds_of_alarms_fills_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    may_write, begun, written = Event(), Event(), list[str]()

    def write(kind: str, note: Note) -> None:
        begun.set()
        may_write.wait()
        written.append(kind)

    monkeypatch.setattr(waiting, "WAITING_MAX", 3)
    notes = Notes(write)
    notes.add("first", Note("text", AT, 1))
    begun.wait()
    for kind in ("a", "b", "c", "d", "e", "a"):
        notes.add(kind, Note("text", AT, 1))
    may_write.set()
    notes.finish()
    assert (written[0], sorted(written[1:])) == ("first", ["a", "b", "c"])
