"""A gateway's children can be interrupted, whoever started the gateway."""

import os
import signal
import sys

from gateway.run.children import spawn

PATIENCE_SECONDS = 30


def test_a_child_can_be_interrupted_although_its_parent_ignores_that() -> None:
    """As for a background job of a shell."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        child = spawn([sys.executable, "-c", "import time; time.sleep(60)"], environment=os.environ)
    finally:
        signal.signal(signal.SIGINT, before)
    child.send_signal(signal.SIGINT)
    assert child.wait(PATIENCE_SECONDS) == -signal.SIGINT
