"""What a process notes of its calls outlives it, and is read as it was written."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gateway.core.contract.ids import new_id
from inference.metering import journal
from inference.metering.journal import (
    CLOSING_MAX_BYTES,
    Entry,
    Journal,
    Leftover,
    Stage,
    is_cut_off,
    is_of_this_boot,
    leftovers,
)

# A process that notes calls of every stage and dies by SIGKILL.
CRASHING = """
import os, pathlib, signal, sys
from inference.metering.journal import Journal
made = Journal(pathlib.Path(sys.argv[1]))
held, sent, closing, done = (made.begin(f"use_{n}") for n in range(4))
sent.sent()
closing.sent()
closing.note_closing(b'{"action":"release"}')
done.sent()
done.done()
os.kill(os.getpid(), signal.SIGKILL)
"""


def read(folder: Path) -> list[Leftover]:
    [path] = folder.iterdir()
    return list(leftovers(path.read_bytes()))


def test_what_a_killed_process_had_under_way_can_be_read(tmp_path: Path) -> None:
    died = subprocess.run([sys.executable, "-c", CRASHING, str(tmp_path)], env=os.environ, check=False, timeout=60)
    assert died.returncode == -signal.SIGKILL
    assert sorted(read(tmp_path), key=lambda left: left.usage_id) == [
        Leftover(Stage.HELD, "use_0", b""),
        Leftover(Stage.SENT, "use_1", b""),
        Leftover(Stage.CLOSING, "use_2", b'{"action":"release"}'),
    ]


def test_a_slot_is_used_again_without_what_was_in_it(tmp_path: Path) -> None:
    made = Journal(tmp_path)
    first = made.begin(new_id("use"))
    first.note_closing(b"a closing that is longer than the next")
    first.done()
    usage_id = new_id("use")
    second = made.begin(usage_id)
    assert read(tmp_path) == [Leftover(Stage.HELD, usage_id, b"")]
    second.note_closing(b"short")
    assert read(tmp_path) == [Leftover(Stage.CLOSING, usage_id, b"short")]


def test_it_grows_with_the_calls_under_way(tmp_path: Path) -> None:
    made = Journal(tmp_path)
    entries: dict[str, Entry] = {name: made.begin(name) for name in (f"use_{n}" for n in range(1000))}
    for name, entry in entries.items():
        entry.note_closing(name.encode())
    found = read(tmp_path)
    assert {left.usage_id: left.closing for left in found} == {name: name.encode() for name in entries}
    for entry in entries.values():
        entry.done()
    assert read(tmp_path) == []


def test_a_closing_that_is_too_long_is_left_to_review(tmp_path: Path) -> None:
    entry = Journal(tmp_path).begin("use_1")
    entry.sent()
    entry.note_closing(b"x" * (CLOSING_MAX_BYTES + 1))
    assert read(tmp_path) == [Leftover(Stage.SENT, "use_1", b"")]
    entry.note_closing(b"x" * CLOSING_MAX_BYTES)
    assert read(tmp_path) == [Leftover(Stage.CLOSING, "use_1", b"x" * CLOSING_MAX_BYTES)]


def test_another_boot_is_distinguished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Journal(tmp_path)
    [path] = tmp_path.iterdir()
    data = path.read_bytes()
    assert is_of_this_boot(data)
    monkeypatch.setattr(journal, "boot_id", lambda: b"another")
    assert not is_of_this_boot(data)
    monkeypatch.setattr(journal, "boot_id", lambda: b"")
    assert not is_of_this_boot(data)


def open_below(folder: Path) -> list[str]:
    """List the files of a folder that this process has open."""
    opened = (os.path.realpath(entry) for entry in Path("/proc/self/fd").iterdir())
    return [path for path in opened if path.startswith(f"{folder}/")]


@contextmanager
def files_of_at_most(size_bytes: int) -> Iterator[None]:
    """Limit the size of files, so that a write ends after a part of it, as on a disk that becomes full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_disk_that_becomes_full_half_way_is_an_error_and_then_there_is_room_again(tmp_path: Path) -> None:
    made = Journal(tmp_path)
    entries = [made.begin(new_id("use")) for _ in range(256)]
    [path] = tmp_path.iterdir()
    with files_of_at_most(path.stat().st_size + 1000), pytest.raises(OSError, match="File too large"):
        made.begin("use_1")
    made.begin("use_2")
    assert len(read(tmp_path)) == len(entries) + 1


@pytest.mark.parametrize("size_bytes", [0, 1000, 300 * 1024])
def test_a_journal_that_cannot_be_begun_leaves_nothing_behind(tmp_path: Path, size_bytes: int) -> None:
    with files_of_at_most(size_bytes), pytest.raises(OSError, match="File too large"):
        Journal(tmp_path)
    assert open_below(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_a_copy_that_was_cut_off_anywhere_can_be_read(tmp_path: Path) -> None:
    made = Journal(tmp_path)
    for number in range(256):
        made.begin(f"use_{number}").note_closing(b'{"action":"release"}')
    whole = made.path.read_bytes()
    calls = {left.usage_id for left in leftovers(whole)}
    assert (len(calls), is_cut_off(whole)) == (256, False)
    for missing in range(1, 3000):
        found = [left.usage_id for left in leftovers(whole[:-missing])]
        assert is_cut_off(whole[:-missing])
        assert calls.issuperset(found)
        assert len(found) >= 256 - (missing + 1023) // 1024
    assert is_cut_off(whole[: len(whole) // 2])


def test_an_entry_that_is_done_touches_no_other_call(tmp_path: Path) -> None:
    made = Journal(tmp_path)
    first = made.begin("use_1")
    first.done()
    second = made.begin("use_2")
    first.sent()
    first.note_closing(b"{}")
    first.done()
    assert read(tmp_path) == [Leftover(Stage.HELD, "use_2", b"")]
    made.begin("use_3").sent()
    second.note_closing(b"{}")
    assert sorted(read(tmp_path), key=lambda left: left.usage_id) == [
        Leftover(Stage.CLOSING, "use_2", b"{}"),
        Leftover(Stage.SENT, "use_3", b""),
    ]
