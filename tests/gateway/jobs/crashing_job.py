"""Runs a job in processes that die by SIGKILL, one before the first statement to the database, the next before the
second, and so on, until one lives to the job's end; prints how many there were.

Run as a program with the job's name. Each goes on with what those before it left.
"""

import os
import signal
import sys
from itertools import count
from typing import Any

from gateway.core.runtime.startup import load_settings


class Killer:
    """Kills its process before the statement of this number."""

    def __init__(self, number: int) -> None:
        self.left = number

    def __call__(self, execute: Any, *statement: Any) -> Any:
        """Run a statement, or die."""
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return execute(*statement)


def lives(name: str, number: int) -> bool:
    """Run the job in a process that dies before that statement; return whether it came to the job's end."""
    child = os.fork()
    if child == 0:
        from django.db import connection

        from gateway.celery import app

        with connection.execute_wrapper(Killer(number)):
            app.tasks[name]()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return False
    assert os.waitstatus_to_exitcode(status) == 0
    return True


def main(name: str) -> None:
    """Kill the job at each statement in turn."""
    from gateway.celery import app

    app.loader.import_default_modules()
    sys.stdout.write(f"{next(number for number in count(1) if lives(name, number))}\n")


if __name__ == "__main__":
    load_settings()
    import django

    django.setup()
    main(*sys.argv[1:])
