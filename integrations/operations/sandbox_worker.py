"""The worker of the queue `sandbox`: whether one is needed, and whether its machine is ready."""

import contextlib
import logging
from pathlib import Path

from django.conf import settings
from django.db import Error

from gateway.run.environment import SANDBOX_MARK
from integrations.adapters import readiness
from integrations.adapters.programs import RunnerMissing
from integrations.queries import sandbox

log = logging.getLogger("integrations.sandbox")


def mark_whether_wanted() -> None:
    """Create or remove the file in the data directory by which `make run` decides whether to start a worker."""
    mark = Path(settings.DATA_DIR) / SANDBOX_MARK
    with contextlib.suppress(OSError):  # the directory does not exist if something else starts the processes
        if sandbox.is_wanted():
            mark.touch()
        else:
            mark.unlink(missing_ok=True)


def log_readiness() -> None:
    """Log one line: how programs are limited on this machine, or why it cannot execute any."""
    try:
        if sandbox.executes_here():
            log.info("Sandbox: %s", readiness.check())
    except RunnerMissing as missing:
        log.warning("Sandbox: programs cannot be executed on this machine. %s", missing)
    except Error:
        log.exception("Sandbox: the settings could not be read")
