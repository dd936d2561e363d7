"""Charges a wallet in processes that die by SIGKILL, one before the first line of the charge, the next before the second, and so on,
until one lives to the end; prints how many there were, and after each checks that the charge was made and booked once.

Run as a program with the owner's DID. A line is one of the operations that send and book a charge, in any thread. After each
process, the next run of the job goes on with what it left.
"""

import os
import signal
import sys
import threading
from datetime import timedelta
from itertools import count
from types import FrameType
from typing import Any

from gateway.core.runtime.startup import load_settings

FILES = tuple(
    f"billing/operations/{name}.py" for name in ("auto_top_up_bookings", "auto_top_up_charges", "off_session")
)
SPENT = 20_000_000
LEASE = timedelta(minutes=2)

_left: list[Any] = []
"""Keeps what belongs to the parent process, which a finalizer would end."""


class Killer:
    """Kills its process before the line of this number."""

    def __init__(self, number: int) -> None:
        self.left = number
        self.lock = threading.Lock()

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Trace the lines of the charge's files alone."""
        if not frame.f_code.co_filename.endswith(FILES):
            return None
        if event == "line":
            with self.lock:
                self.left -= 1
                if self.left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
        return self


def lives(number: int) -> bool:
    """Run the job in a process that dies before that line; return whether it came to the end."""
    from django.utils import timezone

    from billing.operations import auto_top_up_charges

    child = os.fork()
    if child == 0:
        leave_connection()
        killer = Killer(number)
        threading.settrace(killer)
        sys.settrace(killer)
        auto_top_up_charges.send_all(now=timezone.now())
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        assert os.waitstatus_to_exitcode(status) == 0
    return not os.WIFSIGNALED(status)


def leave_connection() -> None:
    """Connect anew when the database is next used, and leave the parent's connection alone. The parent would otherwise need another one
    for each process, and one that is new has to learn every table and function."""
    from django.db import connection

    wrapper: Any = connection
    _left.extend([dict(wrapper._connection_pools), wrapper.connection])
    wrapper._connection_pools.clear()
    wrapper.connection = None


def main(did: str) -> None:
    """Kill the charge before each of its lines in turn."""
    from django.utils import timezone

    from billing.models import AutoTopUpCharge, Wallet
    from billing.operations import auto_top_up_charges
    from tests.factories.billing import Purse, settle

    purse = Purse("account", did)
    before = purse.wallet.balance_microusd
    for number in count(1):
        settle(purse.call(SPENT), SPENT)
        is_done = lives(number)
        auto_top_up_charges.send_all(now=timezone.now() + LEASE)
        assert purse.wallet.balance_microusd == before, f"before line {number}"
        charges = AutoTopUpCharge.objects.filter(wallet=Wallet.objects.get(owner_key=did))
        assert list(charges.values_list("status", flat=True)) == ["succeeded"] * number, f"before line {number}"
        if is_done:
            sys.stdout.write(f"{number}\n")
            return


if __name__ == "__main__":
    load_settings()
    import django

    django.setup()
    main(*sys.argv[1:])
