"""Recovers a folder of journals in processes that die by SIGKILL, one before its first step, the next before the second,
and so on, until one lives to the end; prints how many there were.

Run as a program with the folder's path, and with "handed over" to read it as the copy of a dead machine's folder. A step is a statement to the database, or a call that changes or locks a file.
Each process goes on with what those before it left.
"""

import os
import sys
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from gateway.core.runtime.startup import load_settings
from tests.gateway.jobs.crashing_job import Killer

STEPS = frozenset({"fcntl.flock", "os.rename", "os.remove", "os.utime"})


def lives(work: Callable[[], None], number: int) -> bool:
    """Do the work in a process that dies before that step; return whether it came to the end."""
    child = os.fork()
    if child == 0:
        run(work, Killer(number))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        assert os.waitstatus_to_exitcode(status) == 0
    return not os.WIFSIGNALED(status)


def run(work: Callable[[], None], killer: Killer) -> None:
    """Do the work until the killer strikes."""
    from django.db import connection

    def look(event: str, arguments: tuple[Any, ...]) -> None:
        if event in STEPS:
            killer(lambda: None)

    sys.addaudithook(look)
    with connection.execute_wrapper(killer):
        work()


def recover(folder: Path) -> None:
    """Find the dead processes, and close their calls as soon as they may be."""
    from django.utils import timezone

    from inference.metering import recovery

    for seconds in (0.0, recovery.GRACE_SECONDS + 1):
        recovery.recover(now=timezone.now() + timedelta(seconds=seconds), folder=folder)


def take_over(folder: Path) -> None:
    """Close the calls in a copy."""
    from inference.metering import handed_over

    assert handed_over.take_over(folder).is_done


def main(folder: str, how: str = "") -> None:
    """Kill the recovery at each step in turn."""
    work = partial(take_over if how else recover, Path(folder))
    sys.stdout.write(f"{next(number for number in count(1) if lives(work, number))}\n")


if __name__ == "__main__":
    load_settings()
    import django

    django.setup()
    main(*sys.argv[1:])
