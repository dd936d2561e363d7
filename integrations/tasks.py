"""The integrations' jobs. Those named execute_ run on the queue `sandbox`, which has workers of its own."""

import logging
from typing import Any

from celery import shared_task
from celery.signals import worker_ready, worker_shutting_down
from django.db import transaction

from integrations.models import EvolutionJob, SandboxRun, SandboxSettings
from integrations.models.execution import Execution
from integrations.operations import evolution_jobs, executions, remote_runs, sandbox_runs, sandbox_worker

log = logging.getLogger(__name__)

QUEUE = "sandbox"


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
    """Give up what died with its worker, send again what nobody took, and say whether a worker is wanted."""
    sandbox_worker.mark_wanted()
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


@worker_ready.connect
def tell_readiness(sender: Any, **_: Any) -> None:
    """Have a worker of the queue `sandbox` say at its start what its machine can do."""
    if QUEUE in sender.app.amqp.queues.consume_from:
        sandbox_worker.tell_readiness()


@worker_shutting_down.connect
def leave(**_: Any) -> None:
    """Have a worker that is asked to end not wait for the end of long programs."""
    executions.leave()


def pass_on_cancel(run: SandboxRun) -> None:
    """Have a remote runner end a run that is being cancelled."""
    if run.runner == SandboxSettings.Runner.HTTP and run.status == Execution.Status.CANCELLING:
        begin(cancel_run, run.id)


def begin(task: Any, execution_id: str) -> None:
    """Hand a worker an execution; where the queue is away, `tend_executions` does it later."""

    def send() -> None:
        try:
            task.apply_async((execution_id,), retry=False, expires=executions.MESSAGE_SECONDS)
        except Exception:
            log.exception("%s is left to the scheduled job", execution_id)

    transaction.on_commit(send)
