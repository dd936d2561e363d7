"""Ends a worker process together with the one that started it."""

import ctypes
import multiprocessing
import os
import signal
import sys

from gateway.run.children import PR_SET_PDEATHSIG


def end_with_parent() -> None:
    """Have the system send this process SIGTERM when the server that started it as a worker dies (Linux).

    Otherwise the workers of a killed server keep its port, and nothing would stop them.
    """
    parent = multiprocessing.parent_process()
    if parent is None or sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    if os.getppid() != parent.pid:
        signal.raise_signal(signal.SIGTERM)
