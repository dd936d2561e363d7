"""A configured sandbox, and runs in it."""

import os
import signal
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.utils import timezone

from gateway.core.contract.capabilities import Capability
from integrations.models import Project, SandboxRun, SandboxSettings
from integrations.operations import executions, sandbox_runs
from tests.factories.accounts import Caller
from tests.integrations.conftest import Api
from tests.support.concurrency import eventually

SCOPES = (Capability.SANDBOX_READ, Capability.SANDBOX_RUN, Capability.SANDBOX_CANCEL)
RUNS = "/v1/sandbox/runs"


def configure(**values: Any) -> SandboxSettings:
    """Switch the sandbox on."""
    return SandboxSettings.objects.create(runner="bubblewrap", **values)


def shell(script: str, **members: Any) -> dict[str, Any]:
    """Return a body without its project."""
    return {"command": ["sh", "-c", script], **members}


def queued(api: Api, who: Caller, project: Project, script: str, **members: Any) -> str:
    """Request a run and return its id."""
    status, body = api(who, "POST", RUNS, {"projectId": project.id, **shell(script, **members)})
    assert (status, body["status"]) == (202, "queued"), body
    return str(body["runId"])


def finished(api: Api, who: Caller, project: Project, script: str, **members: Any) -> dict[str, Any]:
    """Request a run, execute it as a worker does, and read it."""
    run_id = queued(api, who, project, script, **members)
    assert sandbox_runs.execute(run_id)
    status, body = api(who, "GET", f"{RUNS}/{run_id}")
    assert status == 200
    return dict(body)


def let_time_pass(run_id: str) -> None:
    """Set the last heartbeat back."""
    past = timezone.now() - timedelta(seconds=executions.STALE_SECONDS + 1)
    SandboxRun.objects.filter(id=run_id).update(heartbeat_at=past)


def duration(seconds: int) -> str:
    """Return an argument of `sleep` that no other test run on this machine uses at the same time."""
    return f"{seconds}.{os.getpid():07}"


def wake(mark: str) -> None:
    """End the `sleep` of this duration that a sandbox executes or is about to execute; its script goes on."""
    words = f"sleep\0{mark}\0".encode()
    [sleeper] = eventually(lambda: [pid for pid in processes(mark) if _command_line(pid) == words])
    os.kill(sleeper, signal.SIGTERM)


def command_lines() -> list[bytes]:
    """List the command lines of all processes."""
    return [_command_line(pid) for pid in pids()]


def processes(mark: str) -> list[int]:
    """Find the processes of the sandbox that has a process with this word in its command line. They share a PID
    namespace.
    """
    marked = {namespace(pid) for pid in pids() if mark.encode() in _command_line(pid)} - {namespace("self"), None}
    return [pid for pid in pids() if namespace(pid) in marked]


def namespace(pid: int | str) -> str | None:
    """Return a process's PID namespace, or None if the process is gone."""
    try:
        return str(Path(f"/proc/{pid}/ns/pid").readlink())
    except OSError:
        return None


def pids() -> list[int]:
    """List all processes."""
    return [int(entry.name) for entry in Path("/proc").glob("[0-9]*")]


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
