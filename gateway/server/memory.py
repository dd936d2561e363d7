"""Has the C library give the memory of large bodies back to the system."""

import contextlib
import ctypes

M_MMAP_THRESHOLD = -3
LARGE_BLOCK_BYTES = 1024 * 1024


def return_large_blocks() -> None:
    """Make the allocator map every block of a megabyte or more separately, and return it as soon as it is free.

    By default glibc raises that limit to 32 MiB with the first large block that it sees, and then keeps the space that
    large bodies leave between smaller ones. Another C library has no such setting.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES)
