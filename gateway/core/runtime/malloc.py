"""Makes the C library return the memory of large bodies to the system."""

import contextlib
import ctypes

M_MMAP_THRESHOLD = -3
LARGE_BLOCK_BYTES = 1024 * 1024


def return_large_blocks() -> None:
    """Make the allocator map every block of a megabyte or more separately, and unmap it as soon as it is freed.

    By default glibc raises this threshold to 32 MiB after the first large block, and then keeps the gaps that large
    bodies leave between smaller blocks. Other C libraries have no such setting.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES)
