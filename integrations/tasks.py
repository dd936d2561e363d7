"""The integrations' jobs. Those named execute_ run on the queue `sandbox`, which has workers of its own."""

import logging
from typing import Any

from celery import shared_task
from django.db import transaction

from integrations.models import SandboxRun
from integrations.operations import executions, sandbox_runs

log = logging.getLogger(__name__)


@shared_task
def execute_run(run_id: str) -> bool:
    """Execute a queued sandbox run."""
    return sandbox_runs.execute(run_id)


@shared_task
def tend_executions() -> int:
    """Give up what died with its worker, and send again what nobody took."""
    for run_id in executions.untaken(SandboxRun):
        begin(execute_run, run_id)
    return executions.give_up(SandboxRun)


@shared_task
def purge_executions() -> int:
    """Delete what has been over for long."""
    return executions.purge(SandboxRun)


def begin(task: Any, execution_id: str) -> None:
    """Hand a worker an execution; where the queue is away, `tend_executions` does it later."""

    def send() -> None:
        try:
            task.apply_async((execution_id,), retry=False, expires=executions.MESSAGE_SECONDS)
        except Exception:
            log.exception("%s is left to the scheduled job", execution_id)

    transaction.on_commit(send)
