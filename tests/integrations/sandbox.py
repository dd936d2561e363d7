"""A configured sandbox, and runs in it."""

from typing import Any

from gateway.core.contract.capabilities import Capability
from integrations.models import Project, SandboxSettings
from integrations.operations import sandbox_runs
from tests.factories.accounts import Caller
from tests.integrations.conftest import Api

SCOPES = (Capability.SANDBOX_READ, Capability.SANDBOX_RUN, Capability.SANDBOX_CANCEL)
RUNS = "/v1/sandbox/runs"


def configure(**values: Any) -> SandboxSettings:
    """Switch the sandbox on."""
    return SandboxSettings.objects.create(runner="bubblewrap", **values)


def shell(script: str, **members: Any) -> dict[str, Any]:
    """Return a body without its project."""
    return {"command": ["sh", "-c", script], **members}


def queued(api: Api, who: Caller, project: Project, script: str, **members: Any) -> str:
    """Ask for a run and return its id."""
    status, body = api(who, "POST", RUNS, {"projectId": project.id, **shell(script, **members)})
    assert (status, body["status"]) == (202, "queued"), body
    return str(body["runId"])


def finished(api: Api, who: Caller, project: Project, script: str, **members: Any) -> dict[str, Any]:
    """Ask for a run, execute it as a worker does, and read it."""
    run_id = queued(api, who, project, script, **members)
    assert sandbox_runs.execute(run_id)
    status, body = api(who, "GET", f"{RUNS}/{run_id}")
    assert status == 200
    return dict(body)
