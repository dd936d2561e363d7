"""Requests, cancels and executes sandbox runs."""

from collections.abc import Mapping
from typing import Any

import orjson
from django.db import transaction
from django.db.models.functions import Now

from accounts.rules.principal import Principal
from gateway.core.contract.errors import Forbidden, InvalidRequest
from gateway.core.contract.ids import new_id
from integrations.adapters import bubblewrap
from integrations.adapters.programs import Ending, Outcome, Output, Program
from integrations.models import ExecutionConfig, Project, SandboxRun, SandboxSettings
from integrations.models.execution import Execution
from integrations.operations import executions, heartbeats, remote_runs
from integrations.queries import execution_configs, projects, sandbox, sandbox_runs
from integrations.rules.execution import check_timeout
from organizations.rules.roles import PEOPLE_MANAGERS

_STATUS_OF_ENDING = {
    Ending.TIMED_OUT: Execution.Status.TIMED_OUT,
    Ending.STOPPED: Execution.Status.CANCELLED,
    Ending.BEYOND_LIMIT: Execution.Status.FAILED,
    Ending.NOT_STARTED: Execution.Status.FAILED,
    Ending.WORKER_LOST: Execution.Status.FAILED,
}


def create(principal: Principal, values: Mapping[str, Any]) -> tuple[SandboxRun, bool]:
    """Queue a run of one of the caller's projects; return it, and whether it is new.

    Raises NotFound, InvalidRequest, RateLimited, and IdempotencyKeyReused if the key was used with another body.
    """
    settings = sandbox.settings()
    project = projects.one_of(principal, values["projectId"], param="projectId")
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(id=project.id)
        runs = SandboxRun.objects.filter(project=project)
        known = executions.requested_before(runs, principal, values)
        if known is not None:
            return known, False
        executions.check_room(runs, "project", "runs of this project")
        return _queued(project, principal, settings, values), True


def cancel(principal: Principal, run_id: str) -> SandboxRun:
    """Cancel a run. A queued run ends at once; a finished one does not change.

    Raises NotFound, and Forbidden if an organization's member cancels another person's run.
    """
    run = sandbox_runs.one_of(principal, run_id)
    membership = principal.current_membership
    if membership is not None and membership.role not in PEOPLE_MANAGERS and run.requested_by != principal.did:
        raise Forbidden("Members can cancel only their own runs.")
    request_cancel(run)
    return run


def request_cancel(run: SandboxRun) -> None:
    """Cancel a queued run, or have the worker stop a running one; `run` is refreshed."""
    mine = SandboxRun.objects.filter(id=run.id)
    cancelled = {"status": Execution.Status.CANCELLED, "finished_at": Now(), "inputs": ""}
    if not mine.filter(status=Execution.Status.QUEUED).update(**cancelled):
        mine.filter(status=Execution.Status.RUNNING).update(status=Execution.Status.CANCELLING)
    run.refresh_from_db()


def execute(run_id: str) -> bool:
    """Execute a queued run on this machine, or submit it to the remote runner; return False if this worker cannot take
    it.
    """
    run = executions.take(SandboxRun, run_id)
    if run is None:
        return False
    if run.runner == SandboxSettings.Runner.HTTP:
        return remote_runs.start(run)
    heartbeat = heartbeats.Heartbeat(run, _output_columns)
    outcome, output = bubblewrap.run(_program(run), heartbeat)
    outcome = heartbeat.explained(outcome)
    columns = {**_output_columns(output), **_outcome_columns(outcome)}
    return heartbeats.retry_while_unavailable(lambda: executions.finish(run, _status(outcome), **columns))


def _queued(project: Project, principal: Principal, settings: SandboxSettings, values: Mapping[str, Any]) -> SandboxRun:
    return SandboxRun.objects.create(
        id=new_id("run"),
        project=project,
        runner=settings.runner,
        inputs=orjson.dumps(_inputs(execution_configs.of_project(project), values)).decode(),
        **executions.request_columns(principal, values),
    )


def _inputs(config: ExecutionConfig, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the run's parameters: from the request, else the configuration, within the operator's current limits."""
    limits = sandbox.limits()
    command = values.get("command") or config.command
    if not command or not command[0]:
        raise InvalidRequest("Name a command, here or in the project's execution configuration.", param="command")
    if (seconds := values.get("timeoutSeconds")) is not None:
        check_timeout(seconds, limits)
    egress = limits.allows_egress and config.network == ExecutionConfig.Network.EGRESS
    return {
        "command": command,
        "files": values.get("files", {}),
        "stdin": values.get("stdin", ""),
        "environment": orjson.loads(config.environment or "{}"),
        "timeoutSeconds": seconds or min(config.timeout_seconds, limits.timeout_seconds),
        "memoryMb": min(config.memory_mb, limits.memory_mb),
        "network": ExecutionConfig.Network.EGRESS if egress else ExecutionConfig.Network.NONE,
    }


def _program(run: SandboxRun) -> Program:
    inputs = orjson.loads(run.inputs)
    return Program(
        command=tuple(inputs["command"]),
        files={path: content.encode() for path, content in inputs["files"].items()},
        stdin=inputs["stdin"].encode(),
        environment=inputs["environment"],
        timeout_seconds=inputs["timeoutSeconds"],
        memory_mb=inputs["memoryMb"],
        egress=inputs["network"] == ExecutionConfig.Network.EGRESS,
    )


def _output_columns(output: Output) -> dict[str, Any]:
    """Convert a program's output to the run's columns."""
    return {"stdout": _text(output.stdout), "stderr": _text(output.stderr), "truncated": output.truncated}


def _text(written: bytearray) -> str:
    """Decode bytes to text that PostgreSQL can store."""
    return bytes(written).decode("utf-8", "replace").replace("\0", "\ufffd")


def _status(outcome: Outcome) -> Execution.Status:
    if outcome.ending is Ending.EXITED:
        return Execution.Status.SUCCEEDED if outcome.exit_code == 0 else Execution.Status.FAILED
    return _STATUS_OF_ENDING[outcome.ending]


def _outcome_columns(outcome: Outcome) -> dict[str, Any]:
    """Convert a program's outcome to the run's columns. An exit code or a cancellation is not an error."""
    is_error = outcome.ending not in (Ending.EXITED, Ending.STOPPED)
    return {
        "exit_code": outcome.exit_code,
        "error_code": str(outcome.ending) if is_error else "",
        "reason": outcome.reason,
    }
