"""Closes the calls that server processes had in progress when they died, using the processes' journals.

Not sent: released. Sent: left to review at once. About to be closed: closed as its process would have. A call whose
journal is lost waits for its deadline and goes to review.

A journal stays until the ledger says of each of its calls at least as much as the journal: the call is closed, or in
review for a reason that its process gave. A call that others gave up meanwhile is still released, or gets its
process's reason and evidence (`billing_is_given_up`). Each closing is a compare-and-set in the ledger, so this may be
interrupted anywhere, and run again or twice at once.
"""

import fcntl
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import orjson
import psycopg
from django.conf import settings
from django.db import DatabaseError, connection, transaction

from billing.operations import closings
from billing.operations.ledger import CloseOutcome
from gateway.core import database
from gateway.core.runtime.logs import RecurringLog
from inference.metering.closing import UNKNOWN_SECONDS
from inference.metering.journal import SUFFIX, Leftover, Stage, is_of_this_boot, leftovers

log = logging.getLogger("inference.recovery")
_unreadable = RecurringLog("inference.recovery", logging.ERROR)
_retried = RecurringLog("inference.recovery", logging.WARNING)

DEAD = ".dead"

GRACE_SECONDS = 10.0
"""The longest that a statement of a dead process can still be running in the database."""

ELSEWHERE_SECONDS = 18.0
"""How long the journal of another boot waits. If that machine lives and shares the folder, it knows more and has closed it by then:
it looks every five seconds (`journal_reader`)."""

LOCK_SECONDS = 2
"""How long a call whose wallet is locked is waited for; after that the others have their turn."""

UNKNOWN = "unknown"
FAILED = "failed"
NOT_CLOSED = frozenset({UNKNOWN, FAILED})
NO_NEWS = frozenset({UNKNOWN, CloseOutcome.ALREADY, CloseOutcome.CONFLICT})
"""Outcomes that are not logged: they come with each look at a journal that has to stay for another call."""

REFUSALS = (psycopg.IntegrityError, psycopg.DataError, psycopg.errors.RaiseException)
"""With these the ledger refuses what a closing says. Others, such as a missing right or a function that an upgrade has not
installed yet, say nothing about it: it is tried again, as its process would have."""


def recover(*, now: datetime, folder: Path | None = None) -> int:
    """Close the open calls of dead processes with journals in `folder`, that of the settings by default; return how many
    were closed. Safe to run concurrently."""
    folder = folder or settings.CALL_JOURNAL_DIR
    for path in folder.glob(f"*{SUFFIX}"):
        with _bad_file_is_passed_over(path):
            _mark_if_dead(path, now)
    closed = 0
    for path in folder.glob(f"*{DEAD}"):
        with _bad_file_is_passed_over(path):
            closed += _recover(path, now)
    return closed


@contextmanager
def _bad_file_is_passed_over(path: Path) -> Iterator[None]:
    """Report a file that the system refuses to read or change. It stays, and the others have their turn."""
    try:
        yield
    except PermissionError:
        _unreadable.write(path.name, f"{path} cannot be read: run the worker as the user of the server")
    except OSError as error:
        _unreadable.write(path.name, f"{path} cannot be read: {error}")


def _mark_if_dead(path: Path, now: datetime) -> None:
    """Mark a dead process's journal. The file's modification time is then when the process was first seen dead."""
    with _locked(path) as file:
        if file is not None:
            os.utime(file, (now.timestamp(), now.timestamp()))
            path.rename(path.with_suffix(DEAD))


def _recover(path: Path, now: datetime) -> int:
    with _locked(path) as file:
        if file is None:
            return 0
        age_seconds = now.timestamp() - os.fstat(file).st_mtime
        if age_seconds < 0:  # the clock has been set back: without a new beginning, the grace would last until then
            os.utime(file, (now.timestamp(), now.timestamp()))
        if age_seconds < GRACE_SECONDS:
            return 0
        data = os.pread(file, os.fstat(file).st_size, 0)
        if not is_of_this_boot(data) and age_seconds < ELSEWHERE_SECONDS:
            return 0
        calls = list(leftovers(data))
        is_last_look = age_seconds > UNKNOWN_SECONDS and not database.commits_wait_sync()
        outcomes = [close(call, is_of_this_boot(data)) for call in calls]
        if is_last_look and FAILED not in outcomes:
            _forget([call for call, outcome in zip(calls, outcomes, strict=True) if outcome == UNKNOWN])
            path.unlink()
        elif NOT_CLOSED.isdisjoint(outcomes):
            path.unlink()
        return sum(outcome not in NOT_CLOSED for outcome in outcomes)


def close(leftover: Leftover, is_complete: bool) -> str:
    """Close one call and return the outcome, FAILED if it has to be tried again. Raises if the database is away.

    `is_complete`: the journal says all that its process did, so a call that it does not call sent was not sent.
    """
    try:
        outcome = _run_or_review(leftover, is_complete)
    except DatabaseError as error:
        if not connection.is_usable():
            raise
        text = f"closing call {leftover.usage_id} of a dead process is retried: {error}"
        _retried.write(type(error.__cause__).__name__, text)
        return FAILED
    if outcome not in NO_NEWS:
        log.warning("call %s of a dead process was %s: %s", leftover.usage_id, leftover.stage.name.lower(), outcome)
    return outcome


def _run_or_review(leftover: Leftover, is_complete: bool) -> str:
    """Close one call, or leave it to review if its closing can never be accepted. Raises DatabaseError."""
    try:
        return _run(_closing(leftover, is_complete))
    except (DatabaseError, ValueError, AttributeError) as error:  # the last two: not JSON, or not an object
        if isinstance(error, DatabaseError) and not isinstance(error.__cause__, REFUSALS):
            raise
        log.exception("call %s cannot be closed by its journal entry: %r", leftover.usage_id, leftover.closing)
    return _run(_review(leftover))


def _run(note: bytes) -> str:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, true)", [f"{LOCK_SECONDS}s"])
        return closings.from_note(note).run()


def _forget(calls: list[Leftover]) -> None:
    """Report calls that the ledger does not know. Only one that was not sent can be expected to be missing."""
    for call in calls:
        level = logging.WARNING if call.stage is Stage.HELD else logging.ERROR
        text = "call %s of a dead process was %s, and the ledger does not know it: %r"
        log.log(level, text, call.usage_id, call.stage.name.lower(), call.closing)


def _closing(leftover: Leftover, is_complete: bool) -> bytes:
    """Return the closing's note. A journal from before a reboot is incomplete, so it cannot prove that nothing was sent."""
    if leftover.stage is Stage.CLOSING:
        return leftover.closing
    if leftover.stage is Stage.HELD and is_complete:
        return orjson.dumps({"action": "release", "usage_id": leftover.usage_id, "resolution": "not_sent"})
    return _review(leftover)


def _review(leftover: Leftover) -> bytes:
    return orjson.dumps({"action": "review", "usage_id": leftover.usage_id, "reason": "process_died"})


@contextmanager
def _locked(path: Path) -> Iterator[int | None]:
    """Open and lock a journal; None if its process is alive, or if someone else is processing it or has done so."""
    try:
        file = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        yield None
        return
    try:
        yield file if _lock(file) and path.exists() else None  # it may have been renamed or removed meanwhile
    finally:
        os.close(file)


def _lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
