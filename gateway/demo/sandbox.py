"""Starts two sandbox runs: shows the output of one as it runs, and cancels the other, which ignores signals."""

import time
import uuid
from collections.abc import Iterator
from typing import Any

from gateway.demo.client import Gateway, GatewayError
from gateway.demo.paid import Write

RUNS = "/v1/sandbox/runs"
RIGHTS = ("projects:read", "sandbox:run", "sandbox:read", "sandbox:cancel")
COUNTS = "for part in one two three; do echo part $part; sleep 1; done"
IGNORES_SIGNALS = "trap '' TERM INT HUP; (setsid sleep 50 &); echo begun; sleep 50"
ACTIVE = ("queued", "running", "cancelling")
LOOK_SECONDS = 0.2
PATIENCE_SECONDS = 60.0


def show_sandbox(gateway: Gateway, write: Write, step: int) -> None:
    """Run one to its end and cancel another. Prints one line if the gateway has no sandbox or the machine does not
    support one. Raises GatewayError if the gateway refuses."""
    write(
        f"\n{step}. Run: a program of a project is executed in the sandbox, without network and apart from the machine.\n"
    )
    try:
        project = _project(gateway)
        if _show_output(gateway, write, project):
            _show_cancelling(gateway, write, project)
    except GatewayError as error:
        if error.code != "integration_unavailable":
            raise
        write(f"   Not here: {error.message}\n")


def _project(gateway: Gateway) -> str:
    """Return the account's first project."""
    projects = _ask(gateway, "GET", "/v1/projects")["data"]
    if not projects:
        raise GatewayError(503, "integration_unavailable", "The demo's account has no project.")
    return str(projects[0]["projectId"])


def _show_output(gateway: Gateway, write: Write, project: str) -> bool:
    """Print a run's output as it arrives, and how it ended; return whether it succeeded."""
    began, written = time.monotonic(), 0
    for run in _followed(gateway, _begin(gateway, project, COUNTS)):
        for line in run["stdout"][written:].splitlines():
            write(f"   {time.monotonic() - began:5.1f} s  {run['status']:<9}  {line}\n")
        written = len(run["stdout"])
    if run["error"]:
        write(f"   Not here: {run['error']['message']}\n")
    else:
        write(f"   {time.monotonic() - began:5.1f} s  {run['status']}, exit code {run['exitCode']}\n")
    return bool(run["status"] == "succeeded")


def _show_cancelling(gateway: Gateway, write: Write, project: str) -> None:
    """Cancel a run once it has started, and print how long that took."""
    write(
        "   Another one, which ignores signals and leaves a process in the background, is cancelled once it has begun:\n"
    )
    run_id = _begin(gateway, project, IGNORES_SIGNALS)
    next(run for run in _followed(gateway, run_id) if run["stdout"] or run["status"] not in ACTIVE)
    began = time.monotonic()
    _ask(gateway, "POST", f"{RUNS}/{run_id}/cancel")
    *_, run = _followed(gateway, run_id)
    write(f"   {time.monotonic() - began:5.1f} s  {run['status']}, and all of its processes are gone\n")


def _begin(gateway: Gateway, project: str, script: str) -> str:
    body = {"projectId": project, "command": ["sh", "-c", script], "idempotencyKey": str(uuid.uuid4())}
    return str(_ask(gateway, "POST", RUNS, json=body)["runId"])


def _followed(gateway: Gateway, run_id: str) -> Iterator[dict[str, Any]]:
    """Yield a run's state repeatedly until it has ended. Raises GatewayError if that takes too long."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        run = _ask(gateway, "GET", f"{RUNS}/{run_id}")
        yield run
        if run["status"] not in ACTIVE:
            return
        if time.monotonic() > deadline:
            raise GatewayError(
                503, "integration_unavailable", f"The run is still {run['status']}; is its worker there?"
            )
        time.sleep(LOOK_SECONDS)


def _ask(gateway: Gateway, method: str, path: str, **content: Any) -> dict[str, Any]:
    answer = gateway.request(method, path, **content)
    if not answer.ok:
        raise GatewayError.of(answer.status_code, answer.json())
    return dict(answer.json())
