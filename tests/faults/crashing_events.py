"""Sends an event in processes that die by SIGKILL, each at a later line of the code that fans out and sends; prints how many there
were before one lived to the end.

Run as a program with the number of lines between two of them. Each first does what the one before it left, without waiting for its
lease, and then dies with an event of its own.
"""

import asyncio
import os
import signal
import sys
import threading
from itertools import count
from typing import Any

from gateway.core.runtime.startup import load_settings
from gateway.run.options import PROJECT_DIR

TRACED = str(PROJECT_DIR / "gateway" / "core" / "events")
OWNER = "did:web:studio.example:alice"


class Killer:
    """Kills its process at a line of the traced code, in whatever thread."""

    def __init__(self, line: int) -> None:
        self.left = line

    def install(self) -> None:
        """Count from now on."""
        threading.settrace(self)
        sys.settrace(self)

    def __call__(self, frame: Any, event: str, argument: Any) -> Any:
        """Look into the functions of the traced code."""
        return self._line if frame.f_code.co_filename.startswith(TRACED) else None

    def _line(self, frame: Any, event: str, argument: Any) -> Any:
        if event == "line":
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return self._line


async def send_all() -> None:
    """Send what is due."""
    from gateway.core.events.adapters.posting import Poster
    from gateway.core.events.dispatcher import Dispatcher

    dispatcher = Dispatcher(Poster())
    while await dispatcher.begin_turns():
        await dispatcher.end_turns()


def lives(line: int) -> bool:
    """Record, fan out and send in a process that dies at that line; return whether it came to the end."""
    child = os.fork()
    if child == 0:
        from django.db import transaction
        from django.utils import timezone

        from gateway.core.events import registry
        from gateway.core.events.models import Endpoint
        from gateway.core.events.operations.fanning_out import fan_out
        from gateway.core.events.operations.recording import record

        registry._kinds.clear()  # events are sent as they were recorded
        Endpoint.objects.update(claimed_until=None)
        fan_out(now=timezone.now())
        asyncio.run(send_all())
        killer = Killer(line)
        with transaction.atomic():
            record(owner_kind="account", owner_key=OWNER, type="usage.settled", data={"line": line}, product="studio")
        killer.install()
        fan_out(now=timezone.now())
        asyncio.run(send_all())
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
