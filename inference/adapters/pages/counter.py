"""Counts the pages of a PDF file, as a process of its own: a hostile file can exhaust its time and memory, and nothing else.

It reads the file from its standard input, and writes the number of pages, at most one more than its argument, or `encrypted`.
A file that cannot be read ends it with an error; without the library, its status is 3.
"""

import io
import math
import resource
import sys
import time
from contextlib import suppress
from typing import Any

CPU_SECONDS = 3
MEMORY_MAX_BYTES = 256 * 1024 * 1024
NODES_MAX = 10_000
NOT_ABLE = 3


def limit() -> None:
    """Bound what this process may use from here on."""
    cpu_seconds = CPU_SECONDS + math.ceil(time.process_time())
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    with suppress(ValueError, OSError):  # not every system bounds the address space
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX_BYTES, MEMORY_MAX_BYTES))


def load() -> None:
    """Import the library before anything is bounded or read, so that its absence is not taken for the file's fault."""
    try:
        import pypdf  # noqa: F401
    except ImportError:
        sys.exit(NOT_ABLE)


def count(data: bytes, most: int) -> int | str:
    """Walk the tree of pages, whose own count may lie, until there are more pages than `most`."""
    from pypdf import PdfReader

    reader = PdfReader(io.BytesIO(data))
    if reader.is_encrypted:
        return "encrypted"
    pages, visited, pending = 0, 0, [_kids_of({"/Kids": [reader.root_object["/Pages"]]})]
    while pending and pages <= most:
        node = next(pending[-1], None)
        if node is None:
            pending.pop()
            continue
        visited += 1
        if visited > NODES_MAX:
            raise ValueError("the tree of pages is too large, or has a loop")
        if "/Kids" in node:
            pending.append(_kids_of(node))
        else:
            pages += 1
    return pages


def _kids_of(node: Any) -> Any:
    """Yield the children of a node one by one: a list of them may be long."""
    kids = node["/Kids"]
    return (kid.get_object() for kid in getattr(kids, "get_object", lambda: kids)())


if __name__ == "__main__":
    load()
    limit()
    sys.stdout.write(str(count(sys.stdin.buffer.read(), int(sys.argv[1]))))
