"""The integrations' jobs. Those named execute_ run on the queue `sandbox`, which has workers of its own."""

import logging
from typing import Any

from celery import shared_task
from django.db import transaction

from integrations.models import EvolutionJob, SandboxRun
from integrations.models.execution import Execution
from integrations.operations import evolution_jobs, executions, remote_runs, sandbox_runs

log = logging.getLogger(__name__)


@shared_task
def execute_run(run_id: str) -> bool:
    """Execute a queued sandbox run."""
    return sandbox_runs.execute(run_id)


@shared_task
def execute_job(job_id: str) -> bool:
    """Execute a queued evolution job."""
    return evolution_jobs.execute(job_id)


EXECUTIONS: tuple[tuple[type[Execution], Any], ...] = ((SandboxRun, execute_run), (EvolutionJob, execute_job))


@shared_task
def tend_executions() -> int:
    """Fail what died with its worker, and queue again what nobody took."""
    for model, task in EXECUTIONS:
        for execution_id in executions.untaken(model):
            begin(task, execution_id)
    return sum(executions.give_up(model) for model, _ in EXECUTIONS)


@shared_task
def cancel_run(run_id: str) -> None:
    """Pass the cancelling of a run on to the remote runner."""
    remote_runs.cancel(run_id)


@shared_task
def ask_runner() -> int:
    """Ask the remote runner about the runs that it executes."""
    return remote_runs.ask()


@shared_task
def purge_executions() -> int:
    """Delete what has been over for long."""
    return sum(executions.purge(model) for model, _ in EXECUTIONS)


def begin(task: Any, execution_id: str) -> None:
    """Queue an execution for a worker; where the queue is away, `tend_executions` does it later."""

    def send() -> None:
        try:
            task.apply_async((execution_id,), retry=False, expires=executions.MESSAGE_SECONDS)
        except Exception:
            log.exception("%s is left to the scheduled job", execution_id)

    transaction.on_commit(send)
