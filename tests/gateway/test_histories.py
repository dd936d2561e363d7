"""The newest history of a database that a machine has used: shared by its processes, and never left for an older one."""

import fcntl
import json
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gateway.core.database.history import ORIGINS_MAX, History, KnownHistories, OlderDatabase

BEGAN = datetime(2026, 1, 1, 12, tzinfo=UTC)
FIRST = History("a", BEGAN)
SECOND = History("a", BEGAN + timedelta(microseconds=1))
HELD_SECONDS = 60.0
"""How long a test holds a lock in vain."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "database.json"


def process(path: Path) -> KnownHistories:
    return KnownHistories(lambda: path)


def test_an_older_history_is_refused(path: Path) -> None:
    known = process(path)
    for history in (FIRST, FIRST, SECOND, SECOND):
        known.enter(history)
    with pytest.raises(OlderDatabase, match=r"manage\.py refuse_earlier_proofs"):
        known.enter(FIRST)
    assert (known.is_outdated(FIRST), known.is_outdated(SECOND), known.is_outdated(None)) == (True, False, False)


def test_a_later_process_of_the_machine_refuses_it_too(path: Path) -> None:
    process(path).enter(SECOND)
    with pytest.raises(OlderDatabase):
        process(path).enter(FIRST)


def test_a_process_learns_what_another_has_entered(path: Path) -> None:
    known, other = process(path), process(path)
    known.enter(FIRST)
    other.enter(SECOND)
    assert not known.is_outdated(FIRST)
    known.refresh()
    assert known.is_outdated(FIRST)


def test_what_the_file_says_is_entered_while_another_process_holds_its_lock(path: Path) -> None:
    process(path).enter(SECOND)
    with path.with_suffix(".lock").open("w") as held, ThreadPoolExecutor() as threads:
        fcntl.flock(held, fcntl.LOCK_EX)  # as one that was stopped while it wrote
        try:
            entering = threads.submit(process(path).enter, SECOND)
            refused = threads.submit(process(path).enter, FIRST)
            done, _ = wait([entering, refused], timeout=HELD_SECONDS)
        finally:
            fcntl.flock(held, fcntl.LOCK_UN)
    assert done == {entering, refused}
    assert isinstance(refused.exception(), OlderDatabase)


def test_another_database_is_another_matter(path: Path) -> None:
    known = process(path)
    known.enter(SECOND)
    known.enter(History("b", BEGAN - timedelta(days=1)))
    known.enter(SECOND)


def test_the_file_stays_small(path: Path) -> None:
    known = process(path)
    for number in range(ORIGINS_MAX + 5):
        known.enter(History(str(number), BEGAN))
    assert list(json.loads(path.read_text())) == [str(number) for number in range(5, ORIGINS_MAX + 5)]


@pytest.mark.parametrize("content", ["", "[]", '{"a": 1}', '{"a": "2026-01-01T12:00:00"}', "no JSON"])
def test_a_file_that_cannot_be_read_leaves_the_memory(
    path: Path, content: str, caplog: pytest.LogCaptureFixture
) -> None:
    path.parent.mkdir()
    path.write_text(content)
    known = process(path)
    known.enter(SECOND)
    with pytest.raises(OlderDatabase):
        known.enter(FIRST)
    assert "cannot be used to recognize a former primary" in caplog.text
