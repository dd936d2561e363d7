"""Sends mails in processes that die by SIGKILL, each at a later line of the code that makes and sends them; prints how many there were
before one lived to the end.

Run as a program with the number of lines between two of them. Each first does what the one before it left, without waiting for its
lease, and then dies with a mail of its own.
"""

import os
import signal
import sys
from itertools import count

from gateway.core.runtime.startup import load_settings
from tests.faults.crashing_events import OWNER, Killer


def lives(line: int) -> bool:
    """Record, fan out and mail in a process that dies at that line; return whether it came to the end."""
    child = os.fork()
    if child == 0:
        from django.db import transaction
        from django.utils import timezone

        from gateway.core.events.models import Mail
        from gateway.core.events.operations.fanning_out import fan_out
        from gateway.core.events.operations.mails import Postman
        from gateway.core.events.operations.recording import record

        Mail.objects.update(claimed_until=None)
        fan_out(now=timezone.now())
        Postman().send_due(timezone.now)
        killer = Killer(line)
        with transaction.atomic():
            record(owner_kind="account", owner_key=OWNER, type="account.suspended", data={})
        killer.install()
        fan_out(now=timezone.now())
        Postman().send_due(timezone.now)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return False
    assert os.waitstatus_to_exitcode(status) == 0
    return True


def main(step: str) -> None:
    """Kill a process at each of these lines."""
    sys.stdout.write(f"{next(number for number, line in enumerate(count(1, int(step))) if lives(line))}\n")


if __name__ == "__main__":
    load_settings()
    import django

    django.setup()
    main(*sys.argv[1:])
