"""Sandbox runs on a remote runner: signatures in both directions, order of reports, and polling."""

import json
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import requests
from django.test import Client
from django.utils import timezone

from gateway.schedule import INTERVAL_SECONDS
from integrations import tasks
from integrations.models import Project, SandboxRun, SandboxSettings
from integrations.operations import remote_runs, sandbox_runs
from integrations.rules import signatures
from tests.factories.accounts import Caller, make_caller
from tests.gateway.operators import address, superuser
from tests.integrations.conftest import Api
from tests.integrations.sandbox import RUNS, SCOPES, queued, shell
from tests.integrations.test_projects import project as make_project
from tests.support.sandbox_runner import SandboxRunner, sandbox_runner

pytestmark = pytest.mark.django_db

SECRET = "runner-secret"


@pytest.fixture
def runner() -> Iterator[SandboxRunner]:
    with sandbox_runner(SECRET) as running:
        SandboxSettings.objects.create(runner="http", base_url=running.base_url, secret=SECRET)
        yield running


@pytest.fixture
def alice() -> Caller:
    return make_caller(*SCOPES)


@pytest.fixture
def docs(alice: Caller) -> Project:
    return make_project(alice.account.did)


def begun(api: Api, alice: Caller, docs: Project) -> str:
    run_id = queued(api, alice, docs, "true", files={"a": "b"}, stdin="in")
    assert sandbox_runs.execute(run_id)
    return run_id


def report(sequence: int, status: str = "running", stdout: str = "", **members: Any) -> dict[str, Any]:
    return {"sequence": sequence, "status": status, "stdout": stdout, "stderr": "", **members}


def call_back(
    client: Client,
    run_id: str,
    body: Any,
    *,
    secret: str = SECRET,
    ago: int = 0,
    signed_for: tuple[str, str] | None = None,
) -> tuple[int, Any]:
    """Send a signed report of a run, which names the run unless it names another."""
    written = body if isinstance(body, bytes) else json.dumps({"runId": run_id, **body}).encode()
    path = f"/webhooks/sandbox/{run_id}"
    request = signatures.SignedRequest(*(signed_for or ("POST", path)), written)
    headers = signatures.headers(secret, request, int(time.time()) - ago)
    answer = client.post(path, written, content_type="application/json", headers=headers)
    return answer.status_code, answer.json()


def test_a_run_is_handed_over(api: Api, alice: Caller, docs: Project, runner: SandboxRunner) -> None:
    run_id = begun(api, alice, docs)
    [(method, path, body)] = runner.requests
    assert (method, path) == ("POST", "/api/runs")
    assert body == {
        "runId": run_id,
        **shell("true", files={"a": "b"}, stdin="in"),
        "environment": {},
        "timeoutSeconds": 30,
        "memoryMb": 256,
        "network": "none",
        "callbackUrl": f"https://gateway.example/webhooks/sandbox/{run_id}",
    }
    assert api(alice, "GET", f"{RUNS}/{run_id}")[1]["status"] == "running"
    assert tasks.tend_executions() == 0
    assert not sandbox_runs.execute(run_id)


def test_reports_are_processed_in_their_order(
    api: Api, alice: Caller, docs: Project, runner: SandboxRunner, client: Client
) -> None:
    run_id = begun(api, alice, docs)
    assert call_back(client, run_id, report(2, stdout="a\0b"))[0] == 200
    assert call_back(client, run_id, report(1, stdout="old"))[0] == 200
    assert call_back(client, run_id, report(2, stdout="again"))[0] == 200
    read = api(alice, "GET", f"{RUNS}/{run_id}")[1]
    assert (read["status"], read["stdout"], read["finishedAt"]) == ("running", "a\ufffdb", None)
    assert call_back(client, run_id, report(3, "failed", "x" * 300_000, exitCode=3))[0] == 200
    assert call_back(client, run_id, report(4, "succeeded", exitCode=0))[0] == 200
    read = api(alice, "GET", f"{RUNS}/{run_id}")[1]
    assert (read["status"], read["exitCode"], len(read["stdout"]), read["truncated"]) == ("failed", 3, 256 * 1024, True)
    assert SandboxRun.objects.get().inputs == ""


def test_a_bad_signature_changes_nothing(
    api: Api, alice: Caller, docs: Project, runner: SandboxRunner, client: Client
) -> None:
    run_id = begun(api, alice, docs)
    done = report(1, "succeeded")
    assert call_back(client, run_id, done, secret="other")[0] == 401
    assert call_back(client, run_id, done, ago=301)[0] == 401
    assert call_back(client, run_id, done, ago=-400)[0] == 401  # a second may pass meanwhile
    assert client.post(f"/webhooks/sandbox/{run_id}", done, content_type="application/json").status_code == 401
    assert call_back(client, "run_unknown", done)[0] == 404
    assert api(alice, "GET", f"{RUNS}/{run_id}")[1]["status"] == "running"
    SandboxSettings.objects.update(secret="")
    assert call_back(client, run_id, done, secret="")[0] == 401


def test_a_report_cannot_be_replayed_for_another_run(
    api: Api, alice: Caller, docs: Project, runner: SandboxRunner, client: Client
) -> None:
    first, second = begun(api, alice, docs), begun(api, alice, docs)
    done = report(1, "succeeded", "of the first", exitCode=0, runId=first)
    status, refused = call_back(client, second, done)
    assert (status, refused["error"]["param"]) == (400, "runId")
    read = api(alice, "GET", f"{RUNS}/{second}")[1]
    assert (read["status"], read["stdout"]) == ("running", "")
    assert call_back(client, first, done)[0] == 200
    before = api(alice, "GET", f"{RUNS}/{first}")[1]
    assert call_back(client, first, done)[0] == 200
    assert api(alice, "GET", f"{RUNS}/{first}")[1] == before


def test_a_report_names_its_run(api: Api, alice: Caller, docs: Project, runner: SandboxRunner, client: Client) -> None:
    run_id = begun(api, alice, docs)
    for body in (json.dumps(report(1, "succeeded")).encode(), json.dumps(report(1, runId=None)).encode()):
        status, refused = call_back(client, run_id, body)
        assert (status, refused["error"]["param"]) == (400, "runId")
    for another in ("run_another", None):
        runner.status, runner.report = 200, report(1, "succeeded", runId=another)
        assert tasks.ask_runner() == 1
        assert api(alice, "GET", f"{RUNS}/{run_id}")[1]["status"] == "running"


def test_an_answer_to_a_query_is_about_the_queried_run(
    api: Api, alice: Caller, docs: Project, runner: SandboxRunner
) -> None:
    run_id = begun(api, alice, docs)
    runner.status, runner.report = 200, report(1, "succeeded")
    assert tasks.ask_runner() == 1
    assert api(alice, "GET", f"{RUNS}/{run_id}")[1]["status"] == "succeeded"


def test_a_signature_is_for_one_method_and_path(
    api: Api, alice: Caller, docs: Project, runner: SandboxRunner, client: Client
) -> None:
    first, second = begun(api, alice, docs), begun(api, alice, docs)
    path = f"/webhooks/sandbox/{first}"
    for signed_for in (("GET", path), ("post", path), ("POST", f"/webhooks/sandbox/{second}"), ("POST", path + "/")):
        assert call_back(client, first, report(1, "succeeded"), signed_for=signed_for)[0] == 401
    assert api(alice, "GET", f"{RUNS}/{first}")[1]["status"] == "running"


def test_a_recorded_query_cancels_nothing(api: Api, alice: Caller, docs: Project, runner: SandboxRunner) -> None:
    first, second = begun(api, alice, docs), begun(api, alice, docs)
    runner.status, runner.report = 200, {}
    assert tasks.ask_runner() == 2
    recorded = runner.signatures[("GET", f"/api/runs/{first}")]
    for method, path in (
        ("POST", f"/runs/{first}/cancel"),
        ("POST", f"/runs/{second}/cancel"),
        ("GET", f"/runs/{second}"),
    ):
        answer = requests.request(method, runner.base_url + path, headers=recorded, timeout=60)
        assert answer.status_code == 401
    assert requests.get(f"{runner.base_url}/runs/{first}", headers=recorded, timeout=60).status_code == 200


def test_the_signed_path_is_the_one_that_is_sent(api: Api, alice: Caller, docs: Project, runner: SandboxRunner) -> None:
    SandboxSettings.objects.update(base_url=f"{runner.base_url}/{{team}}/a;b/%7eme/")
    run_id = begun(api, alice, docs)
    assert [request[:2] for request in runner.requests] == [("POST", "/api/%7Bteam%7D/a;b/~me/runs")]
    assert api(alice, "GET", f"{RUNS}/{run_id}")[1]["status"] == "running"


def test_two_secrets_are_accepted_while_the_runner_changes(
    api: Api, alice: Caller, docs: Project, runner: SandboxRunner, client: Client
) -> None:
    run_id = begun(api, alice, docs)
    SandboxSettings.objects.update(secret="new", previous_secret=SECRET)
    runner.secret, runner.status = "new", 200
    runner.report = report(1, runId=run_id)
    assert [tasks.ask_runner(), runner.requests[-1][0]] == [1, "GET"]
    assert [
        call_back(client, run_id, report(2, stdout="old"))[0],
        call_back(client, run_id, report(3), secret="new")[0],
    ] == [
        200,
        200,
    ]
    SandboxSettings.objects.update(previous_secret="")
    assert call_back(client, run_id, report(4, "succeeded"))[0] == 401
    assert call_back(client, run_id, report(4, "succeeded"), secret="")[0] == 401
    assert api(alice, "GET", f"{RUNS}/{run_id}")[1]["status"] == "running"


UNREADABLE: list[tuple[Any, str | None]] = [
    (b"[", None),
    (b"[]", None),
    (report(-1), "sequence"),
    (report(True), "sequence"),
    (report(2**63), "sequence"),
    (report(1, "done"), "status"),
    (report(1, stdout=7), "stdout"),  # type: ignore[arg-type]
    (report(1, exitCode="0"), "exitCode"),
    (report(1, exitCode=2**40), "exitCode"),
    (report(1, truncated=1), "truncated"),
]


@pytest.mark.parametrize(("body", "param"), UNREADABLE)
def test_errors_name_the_malformed_member(
    api: Api, alice: Caller, docs: Project, runner: SandboxRunner, client: Client, body: Any, param: str | None
) -> None:
    run_id = begun(api, alice, docs)
    status, answer = call_back(client, run_id, body)
    assert (status, answer["error"]["param"]) == (400, param)
    assert api(alice, "GET", f"{RUNS}/{run_id}")[1]["status"] == "running"


def test_the_runner_is_queried_each_minute(api: Api, alice: Caller, docs: Project, runner: SandboxRunner) -> None:
    assert INTERVAL_SECONDS["integrations.tasks.ask_runner"] == 60
    run_id = begun(api, alice, docs)
    runner.status, runner.report = 200, report(7, "succeeded", "out", exitCode=0, runId=run_id)
    assert tasks.ask_runner() == 1
    assert runner.requests[-1] == ("GET", f"/api/runs/{run_id}", None)
    read = api(alice, "GET", f"{RUNS}/{run_id}")[1]
    assert (read["status"], read["stdout"], read["exitCode"]) == ("succeeded", "out", 0)
    assert tasks.ask_runner() == 0


def test_cancelling_is_passed_on(
    api: Api,
    alice: Caller,
    docs: Project,
    runner: SandboxRunner,
    client: Client,
    django_capture_on_commit_callbacks: Any,
) -> None:
    run_id = begun(api, alice, docs)
    with django_capture_on_commit_callbacks(execute=True):
        status, body = api(alice, "POST", f"{RUNS}/{run_id}/cancel")
    assert (status, body["status"]) == (202, "cancelling")
    assert runner.requests[-1] == ("POST", f"/api/runs/{run_id}/cancel", None)
    assert call_back(client, run_id, report(1, "running"))[0] == 200
    assert api(alice, "GET", f"{RUNS}/{run_id}")[1]["status"] == "cancelling"
    assert call_back(client, run_id, report(2, "cancelled"))[0] == 200
    assert api(alice, "GET", f"{RUNS}/{run_id}")[1]["status"] == "cancelled"


def test_an_operators_cancelling_is_passed_on_too(
    api: Api, alice: Caller, docs: Project, runner: SandboxRunner, django_capture_on_commit_callbacks: Any
) -> None:
    run_id = begun(api, alice, docs)
    with django_capture_on_commit_callbacks(execute=True):
        page = address("integrations_sandboxrun_changelist")
        superuser().post(page, {"action": "cancel", "_selected_action": [run_id], "reason": "r"})
    assert runner.requests[-1] == ("POST", f"/api/runs/{run_id}/cancel", None)
    assert api(alice, "GET", f"{RUNS}/{run_id}")[1]["status"] == "cancelling"


def test_an_operator_changes_the_secret_and_removes_the_previous_one(runner: SandboxRunner) -> None:
    operator, page = superuser(), address("integrations_sandboxsettings_change", 1)
    sent = {"runner": "http", "base_url": runner.base_url, "runtimes": "default", "network": "none"}
    sent |= {"secret": "", "previous_secret": ""}
    sent |= {"max_timeout_seconds": "60", "max_memory_mb": "512"}

    def stored(**typed: str) -> tuple[str, str]:
        assert operator.post(page, {**sent, **typed}).status_code == 303
        return SandboxSettings.objects.values_list("secret", "previous_secret").get()

    assert stored(secret="new", previous_secret=SECRET) == ("new", SECRET)
    assert stored() == ("new", SECRET)
    assert SECRET not in operator.get(page).content.decode()
    assert stored(remove_previous_secret="on") == ("new", "")


@pytest.mark.parametrize(
    ("status", "words"), [(400, "The runner answered with status 400."), (500, "The runner could not be reached.")]
)
def test_a_run_that_the_runner_refuses_fails(
    api: Api, alice: Caller, docs: Project, runner: SandboxRunner, status: int, words: str
) -> None:
    runner.status = status
    read = api(alice, "GET", f"{RUNS}/{begun(api, alice, docs)}")[1]
    assert (read["status"], read["error"]) == ("failed", {"code": "not_started", "message": words})
    cancelled = ("POST", f"/api/runs/{read['runId']}/cancel", None)
    assert (runner.requests[-1] == cancelled) is (status == 500), "it may have taken the run all the same"


def test_a_run_that_the_runner_does_not_know_fails(
    api: Api, alice: Caller, docs: Project, runner: SandboxRunner
) -> None:
    run_id = begun(api, alice, docs)
    runner.status = 404
    tasks.ask_runner()
    read = api(alice, "GET", f"{RUNS}/{run_id}")[1]
    assert (read["status"], read["error"]["message"]) == ("failed", "The runner does not know this run.")


@pytest.mark.parametrize(
    "headers",
    [{"Content-Length": "1000"}, {"Content-Encoding": "gzip"}, {"Transfer-Encoding": "chunked"}],
    ids=["cut", "not gzip", "no chunks"],
)
def test_an_answer_that_cannot_be_read_is_as_none(
    api: Api, alice: Caller, docs: Project, runner: SandboxRunner, headers: dict[str, str]
) -> None:
    runs = [begun(api, alice, docs) for _ in range(2)]
    runner.headers, runner.status = headers, 200
    assert tasks.ask_runner() == 2, "a bad answer about one run keeps no other from being asked about"
    assert [api(alice, "GET", f"{RUNS}/{run_id}")[1]["status"] for run_id in runs] == ["running"] * 2
    read = api(alice, "GET", f"{RUNS}/{begun(api, alice, docs)}")[1]
    assert read["error"] == {"code": "not_started", "message": "The runner could not be reached."}


def test_a_runner_that_is_silent_loses_the_run_in_the_end(
    api: Api, alice: Caller, docs: Project, runner: SandboxRunner
) -> None:
    run_id = begun(api, alice, docs)
    runner.status = 503
    tasks.ask_runner()
    assert api(alice, "GET", f"{RUNS}/{run_id}")[1]["status"] == "running"
    SandboxRun.objects.update(started_at=timezone.now() - timedelta(seconds=31) - remote_runs.SILENT_MAX)
    tasks.ask_runner()
    read = api(alice, "GET", f"{RUNS}/{run_id}")[1]
    assert (read["status"], read["error"]["message"]) == ("failed", remote_runs.LOST)
