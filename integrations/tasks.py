"""The integrations' jobs. Those named execute_ run on the queue `sandbox`, which has its own workers."""

from typing import Any

from celery import shared_task
from celery.signals import worker_ready, worker_shutting_down
from django.utils import timezone

from gateway.core.jobs.operations.messages import notify
from gateway.core.jobs.operations.recording import job
from integrations.models import EvolutionJob, SandboxRun, SandboxSettings
from integrations.models.execution import Execution
from integrations.operations import (
    ci_reports,
    evolution_jobs,
    executions,
    heartbeats,
    remote_runs,
    sandbox_runs,
    sandbox_worker,
)

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


@job("executions")
def tend_executions() -> int:
    """Fail executions whose worker died, queue again those that no worker took, and mark whether a worker is needed."""
    sandbox_worker.mark_whether_wanted()
    for model, task in EXECUTIONS:
        for execution_id in executions.unclaimed(model):
            begin(task, execution_id)
    return sum(executions.give_up(model) for model, _ in EXECUTIONS)


@shared_task
def cancel_run(run_id: str) -> None:
    """Forward a run's cancellation to the remote runner."""
    remote_runs.cancel(run_id)


@job("runs")
def ask_runner() -> int:
    """Query the remote runner for the runs that it executes."""
    return remote_runs.ask()


@job("executions")
def purge_executions() -> int:
    """Delete old finished executions."""
    return sum(executions.purge(model) for model, _ in EXECUTIONS)


@job("runs")
def purge_ci_runs() -> int:
    """Delete CI runs whose last report is old."""
    return ci_reports.purge(now=timezone.now())


@worker_ready.connect
def log_readiness(sender: Any, **_: Any) -> None:
    """When a worker of the queue `sandbox` starts, log whether its machine is ready."""
    if QUEUE in sender.app.amqp.queues.consume_from:
        sandbox_worker.log_readiness()


@worker_shutting_down.connect
def request_shutdown(**_: Any) -> None:
    """Begin to stop long programs in a worker that is shutting down."""
    heartbeats.request_shutdown()


def pass_on_cancel(run: SandboxRun) -> None:
    """Queue a cancellation for the remote runner, if it executes the run."""
    if run.runner == SandboxSettings.Runner.HTTP and run.status == Execution.Status.CANCELLING:
        begin(cancel_run, run.id)


def begin(task: Any, execution_id: str) -> None:
    """Queue an execution for a worker; if the queue is unavailable, `tend_executions` does it later."""
    notify(task, execution_id, execution_id, expires=executions.MESSAGE_SECONDS)
