"""File descriptors of a server process: each connection takes one."""

import contextlib
import resource


def raise_descriptor_limit() -> None:
    """Raise this process's own limit to the system's maximum; many systems start with 1,024."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):  # refused: the limit stays unchanged
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def descriptors_max() -> int:
    """Return how many files and sockets this process may have open."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 1_000_000 if soft == resource.RLIM_INFINITY else soft
