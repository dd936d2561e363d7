"""Records this process's calls in progress, and the stage of each, in a file that survives a `kill -9`.

The ledger knows that a hold was placed, but not whether its process sent anything. Each server process therefore keeps a
memory-mapped file of slots: a call takes a slot before requesting its hold, marks it before sending the first byte
upstream, writes its closing there before requesting it from the ledger, and frees the slot once the closing is on disk.
These are a few stores into memory, without system calls. The pages belong to the kernel, so they survive the process but
not the machine; a reader therefore first checks that the machine has not rebooted.

`inference.metering.recovery` reads the journals of dead processes.
"""

import fcntl
import mmap
import os
import tempfile
import threading
import weakref
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from pathlib import Path

from django.conf import settings

SUFFIX = ".journal"

_SLOT_BYTES = 1024
_SEGMENT_BYTES = 256 * _SLOT_BYTES  # also the header's size, because a mapping begins at a multiple of a page
_ID_AT, _ID_BYTES = 2, 64
_CLOSING_AT = _ID_AT + _ID_BYTES + 2
CLOSING_MAX_BYTES = _SLOT_BYTES - _CLOSING_AT


class Stage(IntEnum):
    """The progress of a call. Nothing was sent for a call that is HELD."""

    FREE = 0
    HELD = 1
    SENT = 2
    CLOSING = 3


_STAGES = frozenset(Stage)


@dataclass(frozen=True, slots=True)
class Leftover:
    """A call that a journal's process had in progress. `closing` is its intended closing, if it was known."""

    stage: Stage
    usage_id: str
    closing: bytes


class Entry:
    """One call's slot, from the hold until the call is closed. The stage is written last, so that it never precedes its data.

    Once done, an entry writes nothing more, because the slot may belong to another call.
    """

    __slots__ = ("_at", "_is_done", "_journal", "_segment")

    def __init__(self, journal: "Journal", segment: mmap.mmap, at: int, usage_id: str) -> None:
        self._journal, self._segment, self._at = journal, segment, at
        self._is_done = False
        name = usage_id.encode()
        assert len(name) <= _ID_BYTES
        segment[at + 1] = len(name)
        segment[at + _ID_AT : at + _ID_AT + len(name)] = name
        segment[at] = Stage.HELD

    def sent(self) -> None:
        """Record that the call may reach an upstream from now on."""
        if not self._is_done:
            self._segment[self._at] = Stage.SENT

    def note_closing(self, arguments: bytes) -> None:
        """Record the intended closing. One that does not fit is omitted; recovery then leaves the call to review."""
        if self._is_done or len(arguments) > CLOSING_MAX_BYTES:
            return
        if self._segment[self._at] == Stage.CLOSING:  # the entry is overwritten, and half of one is worse than none
            self._segment[self._at] = Stage.SENT
        start = self._at + _CLOSING_AT
        self._segment[start - 2 : start] = len(arguments).to_bytes(2, "big")
        self._segment[start : start + len(arguments)] = arguments
        self._segment[self._at] = Stage.CLOSING

    def done(self) -> None:
        """Free the slot for another call."""
        if self._is_done:
            return
        self._is_done = True
        self._segment[self._at] = Stage.FREE
        self._journal.put_back(self._segment, self._at)


class Journal:
    """The file of one process, locked for as long as the process lives."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._free: list[tuple[mmap.mmap, int]] = []
        self._segments: list[mmap.mmap] = []
        self._growing = threading.Lock()
        self._file, name = tempfile.mkstemp(dir=folder, prefix=f"{os.getpid()}-")
        self._close_file = weakref.finalize(self, os.close, self._file)  # when the last entry is gone as well
        self._close_file.atexit = False  # other threads may still serve calls
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX)
            _write(self._file, boot_id().ljust(_SEGMENT_BYTES, b"\0"), 0)
            self._grow()
        except BaseException:
            Path(name).unlink()
            self.close()
            raise
        self.path = Path(name).rename(name + SUFFIX)  # recovery must not see it before it is locked

    def begin(self, usage_id: str) -> Entry:
        """Take a slot for a call. Raises OSError if the disk is full."""
        while True:
            try:
                segment, at = self._free.pop()
            except IndexError:
                self._grow()
            else:
                return Entry(self, segment, at, usage_id)

    def put_back(self, segment: mmap.mmap, at: int) -> None:
        """Return a slot. The most recently used slot is reused first, so that few pages are touched."""
        self._free.append((segment, at))

    def close(self) -> None:
        """Close the file, as the end of the process does. Its entries can no longer be written."""
        for segment in self._segments:
            segment.close()
        self._close_file()

    def end(self) -> None:
        """Remove the file, unless a call is open in it: then it stays, locked as long as the call is."""
        taken = []
        with suppress(IndexError):
            while True:
                taken.append(self._free.pop())  # one at a time, as calls take them
        if len(taken) == len(self._segments) * (_SEGMENT_BYTES // _SLOT_BYTES):
            self.path.unlink(missing_ok=True)

    def _grow(self) -> None:
        with self._growing:
            if self._free:
                return
            at = (1 + len(self._segments)) * _SEGMENT_BYTES
            _write(self._file, bytes(_SEGMENT_BYTES), at)  # not sparse: a full disk must be an error, not a SIGBUS
            segment = mmap.mmap(self._file, _SEGMENT_BYTES, offset=at)
            self._segments.append(segment)
            self._free += [(segment, start) for start in range(0, _SEGMENT_BYTES, _SLOT_BYTES)]


def _write(file: int, data: bytes, at: int) -> None:
    """Write all of `data`. Raises OSError if the disk is full, even if the kernel has already written a part of it."""
    while data:
        written = os.pwrite(file, data, at)
        data, at = data[written:], at + written


def begin(usage_id: str) -> Entry:
    """Take a slot of this process's journal for a call. Raises OSError if there is no room for one."""
    return _journal().begin(usage_id)


def finish() -> None:
    """End this process's journal, when it has served its last call. A later call would begin another one."""
    if _journal.cache_info().currsize:
        journal = _journal()
        _journal.cache_clear()
        journal.end()


def leftovers(data: bytes) -> Iterator[Leftover]:
    """Read the calls that a journal's process had in progress. Damaged slots, after a machine crash, are tolerated."""
    for at in range(_SEGMENT_BYTES, len(data), _SLOT_BYTES):
        slot = data[at : at + _SLOT_BYTES].ljust(_SLOT_BYTES, b"\0")  # the last one may be cut off
        usage_id = slot[_ID_AT : _ID_AT + slot[1]].decode("latin-1")
        if slot[0] != Stage.FREE and usage_id and usage_id.isascii() and usage_id.isprintable():
            closing_bytes = int.from_bytes(slot[_CLOSING_AT - 2 : _CLOSING_AT], "big")
            closing = slot[_CLOSING_AT : _CLOSING_AT + closing_bytes] if slot[0] == Stage.CLOSING else b""
            yield Leftover(Stage(slot[0]) if slot[0] in _STAGES else Stage.SENT, usage_id, closing)


def is_cut_off(data: bytes) -> bool:
    """Return whether the end of a journal is missing: in a copy that was interrupted, or after a disk became full."""
    return len(data) < 2 * _SEGMENT_BYTES or len(data) % _SEGMENT_BYTES != 0


def is_of_this_boot(data: bytes) -> bool:
    """Return whether the machine has not rebooted since the journal was begun, so that the journal is complete."""
    return bool(boot_id()) and data[:_SEGMENT_BYTES].rstrip(b"\0") == boot_id()


@cache
def boot_id() -> bytes:
    """Return the kernel's id of this boot, or nothing if it has none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_bytes().strip()
    except OSError:
        return b""


@cache
def _journal() -> Journal:
    return Journal(settings.CALL_JOURNAL_DIR)
