"""Huge pages change where memory lies, and nothing else."""

import ctypes
import mmap
import re
from pathlib import Path

from gateway.core.runtime.huge_pages import PAGE_BYTES, use_huge_pages

SMAPS = Path("/proc/self/smaps")
SWITCH = Path("/sys/kernel/mm/transparent_hugepage/enabled")
LIBC = ctypes.CDLL(None)
MAPPED: list[mmap.mmap] = []  # unmapped with the process: what Python closes must be as it was mapped


def is_advised(address: int) -> bool:
    """Return whether the region at an address carries the kernel's flag for huge pages."""
    for region in re.split(r"\n(?=[0-9a-f]+-[0-9a-f]+ )", SMAPS.read_text()):
        start, end = (int(part, 16) for part in region.partition(" ")[0].split("-"))
        if start <= address < end:
            return " hg" in region
    raise AssertionError("no such address")


def lone_region(size_bytes: int) -> int:
    """Map memory between two pages that nobody may touch, so that the kernel joins it with no neighbour; return where."""
    fence = mmap.mmap(-1, size_bytes + 2 * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    MAPPED.append(fence)
    address = ctypes.addressof(ctypes.c_char.from_buffer(fence))
    for page in (address, address + size_bytes + mmap.PAGESIZE):
        assert LIBC.mprotect(ctypes.c_void_p(page), mmap.PAGESIZE, 0) == 0
    return address + mmap.PAGESIZE


def test_memory_in_use_is_moved_and_keeps_its_contents() -> None:
    text = bytes(range(256)) * (4 * PAGE_BYTES // 256)
    address = lone_region(len(text))
    ctypes.memmove(address, text, len(text))
    use_huge_pages()
    assert ctypes.string_at(address, len(text)) == text
    assert is_advised(address + PAGE_BYTES) == SWITCH.exists()


def test_memory_that_is_hardly_used_does_not_grow() -> None:
    address = lone_region(8 * PAGE_BYTES)
    ctypes.memset(address, 1, PAGE_BYTES)
    use_huge_pages()
    assert not is_advised(address + PAGE_BYTES)


def test_memory_of_files_and_of_others_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x" * 4 * PAGE_BYTES)
    with file.open("r+b") as stream:
        shared, private = mmap.mmap(stream.fileno(), 0), mmap.mmap(stream.fileno(), 0, flags=mmap.MAP_PRIVATE)
    private[:] = b"y" * len(private)
    use_huge_pages()
    for memory in (shared, private):
        assert not is_advised(ctypes.addressof(ctypes.c_char.from_buffer(memory)) + PAGE_BYTES)
    assert file.read_bytes() == b"x" * 4 * PAGE_BYTES


def test_a_system_without_such_a_map_is_left_as_it_is(tmp_path: Path) -> None:
    use_huge_pages(tmp_path / "missing")
