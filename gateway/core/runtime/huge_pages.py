"""Moves a process's loaded memory onto huge pages.

A worker's code, catalogue and libraries are 100 MiB of small objects, and every call touches some of each. With 4 KiB
pages, the processor's address cache (TLB) loses them between two calls; with 2 MiB pages it does not (Linux's
admin-guide/mm/transhuge, madvise(2)).
"""

import ctypes
import mmap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

PAGE_BYTES = 2 * 1024 * 1024
"""The size of a huge page on x86-64, and on ARM with 4 KiB pages. With other sizes, the system only refuses the
request."""

RESIDENT_PART = 3 / 4
"""A region with less in use, such as a thread's stack, would grow."""

_MADV_COLLAPSE = 25  # Linux 6.1; before that the kernel's own thread does it, within minutes


class Region(NamedTuple):
    """Private writable memory without a backing file; addresses in bytes."""

    start: int
    end: int
    resident_bytes: int

    @property
    def is_in_use(self) -> bool:
        """Return whether nearly all of it is in memory."""
        return self.resident_bytes >= (self.end - self.start) * RESIDENT_PART

    @property
    def whole_pages(self) -> range:
        """Return the addresses of the huge pages that lie entirely within it."""
        return range(-(-self.start // PAGE_BYTES) * PAGE_BYTES, self.end // PAGE_BYTES * PAGE_BYTES, PAGE_BYTES)


def use_huge_pages(smaps: Path = Path("/proc/self/smaps")) -> None:
    """Ask the system to move the memory in use onto huge pages. If it refuses, nothing changes."""
    try:
        with smaps.open() as lines:  # one by one: thousands of them at once would leave a gap of megabytes
            regions = list(_regions(lines))
        advise = ctypes.CDLL(None).madvise
    except (OSError, AttributeError):
        return  # not Linux
    advise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    for pages in (region.whole_pages for region in regions if region.is_in_use):
        if pages:
            advise(pages.start, len(pages) * PAGE_BYTES, mmap.MADV_HUGEPAGE)
            advise(pages.start, len(pages) * PAGE_BYTES, _MADV_COLLAPSE)


def _regions(lines: Iterable[str]) -> Iterator[Region]:
    """Read the regions of the process's map (proc_pid_smaps(5)): a line of addresses, then lines `Name: value`."""
    addresses: tuple[int, int] | None = None
    for line in lines:
        words = line.split()
        if not words[0].endswith(":"):
            addresses = _addresses(words)
        elif addresses and words[0] == "Rss:":
            yield Region(*addresses, int(words[1]) * 1024)


def _addresses(words: list[str]) -> tuple[int, int] | None:
    """Return the start and end of a region without a file; None for any other."""
    span, rights, _, _, inode, *name = words
    if rights != "rw-p" or inode != "0" or name not in ([], ["[heap]"]):
        return None
    start, _, end = span.partition("-")
    return int(start, 16), int(end, 16)
