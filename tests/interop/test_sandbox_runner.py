"""Remote runners that share no code with the gateway: one in Node.js, and the shell commands of docs/sandbox.md."""

import os
import re
import subprocess
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from django.db import connections

from gateway.run.options import PROJECT_DIR
from integrations import tasks
from integrations.models import Project, SandboxSettings
from integrations.operations import sandbox_runs
from tests.factories.accounts import Caller, make_caller
from tests.integrations.sandbox import RUNS, SCOPES, shell
from tests.integrations.test_projects import project
from tests.interop.node_script import SCRIPTS
from tests.support.concurrency import eventually
from tests.support.serving import RunningGateway

pytestmark = pytest.mark.django_db(transaction=True)

SECRET = "runner-secret"
DOCS = (PROJECT_DIR / "docs" / "sandbox.md").read_text(encoding="utf-8")


@pytest.fixture
def alice() -> Caller:
    return make_caller(*SCOPES)


@pytest.fixture
def docs(alice: Caller) -> Project:
    return project(alice.account.did)


@pytest.fixture
def runner(origin: str) -> Iterator[None]:
    """Run the runner, and have the gateway hand it its runs."""
    environment = {**os.environ, "SECRET": SECRET, "GATEWAY": origin}
    script = str(SCRIPTS / "sandbox_runner.mjs")
    with subprocess.Popen(["node", script], env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        address = process.stdout.readline().decode().strip()
        SandboxSettings.objects.create(runner="http", base_url=address, secret=SECRET)
        try:
            yield
        finally:
            process.terminate()


@pytest.fixture
def origin(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Serve the gateway; the test hands runs over itself."""
    monkeypatch.setattr(tasks, "begin", lambda task, execution_id: None)
    with RunningGateway() as gateway:
        yield gateway.origin
    connections.close_all()


class RunsCaller:
    """What a caller asks of the gateway."""

    def __init__(self, origin: str, who: Caller, project_id: str) -> None:
        self._origin, self._who, self._project_id = origin, who, project_id

    def ask(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """Send one request."""
        headers = self._who.headers(method, path)
        answer = httpx.request(method, self._origin + path, json=body, headers=headers, timeout=60)
        assert answer.is_success, answer.text
        return dict(answer.json())

    def begin(self, script: str) -> str:
        """Queue a run, hand it over, and return its id."""
        run_id = str(self.ask("POST", RUNS, {"projectId": self._project_id, **shell(script, stdin="typed\n")})["runId"])
        assert sandbox_runs.execute(run_id)
        return run_id

    def read(self, run_id: str) -> dict[str, Any]:
        """Return a run."""
        return self.ask("GET", f"{RUNS}/{run_id}")


@pytest.fixture
def runs(origin: str, alice: Caller, docs: Project) -> RunsCaller:
    return RunsCaller(origin, alice, docs.id)


def test_a_run_is_executed_and_reported(runner: None, runs: RunsCaller) -> None:
    run_id = runs.begin("cat; echo oops >&2; exit 3")
    read = eventually(lambda: (read := runs.read(run_id))["finishedAt"] and read)
    assert (read["status"], read["exitCode"], read["stdout"], read["stderr"]) == ("failed", 3, "typed\n", "oops\n")


def test_a_run_is_read_meanwhile_and_cancelled(runner: None, runs: RunsCaller) -> None:
    run_id = runs.begin("echo begun; sleep 600")
    eventually(lambda: runs.read(run_id)["stdout"] == "begun\n")
    assert runs.ask("POST", f"{RUNS}/{run_id}/cancel")["status"] == "cancelling"
    tasks.cancel_run(run_id)
    eventually(lambda: runs.read(run_id)["status"] == "cancelled")


def test_it_gets_requests(runner: None, runs: RunsCaller) -> None:
    run_id = runs.begin("sleep 600")
    assert tasks.ask_runner() == 1
    assert runs.read(run_id)["status"] == "running"
    runs.ask("POST", f"{RUNS}/{run_id}/cancel")
    assert tasks.ask_runner() == 1
    eventually(lambda: runs.read(run_id)["status"] == "cancelled")


def test_the_documented_report(runner: None, runs: RunsCaller, origin: str) -> None:
    run_id = runs.begin("sleep 600")
    [commands] = re.findall(r"```sh\n(body=.+?)```", DOCS, re.DOTALL)
    callback = f"{origin}/webhooks/sandbox/{run_id}"
    environment = {**os.environ, "SANDBOX_SECRET": SECRET, "CALLBACK_URL": callback, "RUN_ID": run_id}
    completed = subprocess.run(["sh", "-ec", commands], env=environment, capture_output=True, text=True, check=False)
    assert (completed.returncode, completed.stdout) == (0, '{"received":true}'), completed.stderr
    assert runs.read(run_id)["stdout"] == "hello"


def test_the_documented_signature() -> None:
    [(secret, timestamp, path, body, signature)] = re.findall(
        r"secret `(\S+)`, the timestamp `(\d+)`, the path `(\S+)`\nand the body `(\S+)`, the signature of a `POST` is\n"
        r"`sha256=(\w+)`",
        DOCS,
    )
    command = ["openssl", "dgst", "-sha256", "-hmac", secret, "-r"]
    completed = subprocess.run(
        command, input=f"{timestamp}.POST.{path}.{body}".encode(), capture_output=True, check=True
    )
    assert completed.stdout.decode().split()[0] == signature
