"""CI providers' deliveries: jobs as steps, concurrent and hostile deliveries, and rotated secrets."""

import json
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.core.management import call_command
from django.db import connection, transaction
from django.test import Client
from pytest_django import Settings

from gateway.core.contract.capabilities import Capability
from integrations.models import CIProvider, CIRun, Project
from integrations.operations import ci_reports
from integrations.rules.ci_reports import STEPS_MAX
from tests.factories.accounts import Caller, make_caller
from tests.integrations.conftest import Api
from tests.integrations.hostile import spoiled
from tests.integrations.test_ci_runs import SECRET, deliver, generic, reported, signature_of, workflow_run
from tests.integrations.test_projects import project
from tests.support.concurrency import at_once


@pytest.fixture
def alice() -> Caller:
    return make_caller(Capability.CI_READ)


@pytest.fixture
def docs(alice: Caller) -> Project:
    return reported(project(alice.account.did))


def workflow_job(name: str, status: str, second: int | None = None, **fields: Any) -> dict[str, Any]:
    """Build a delivery as a forge does, including unused members."""
    started = None if second is None else f"2026-11-20T10:00:{second:02}Z"
    ended = f"2026-11-20T10:01:{second or 0:02}Z" if status == "completed" else None
    job = {
        "id": 29679449526,
        "run_id": 7,
        "run_url": "https://api.forge.example/repos/acme/docs/actions/runs/7",
        "run_attempt": 1,
        "workflow_name": "CI",
        "head_branch": "main",
        "head_sha": "a" * 40,
        "status": status,
        "conclusion": None,
        "created_at": "2026-11-20T09:59:59Z",
        "started_at": started,
        "completed_at": ended,
        "name": name,
        "steps": [{"name": "Set up job", "status": "completed", "conclusion": "success", "number": 1}],
        "labels": ["ubuntu-latest"],
        "runner_id": None,
        **fields,
    }
    return {"action": status, "workflow_job": job, "repository": {"id": 1, "full_name": "acme/docs"}}


def report(client: Client, *bodies: dict[str, Any]) -> None:
    for body in bodies:
        event = "workflow_job" if "workflow_job" in body else "workflow_run"
        assert deliver(client, "forge", body, event=event) == (200, {"received": True})


DONE: list[dict[str, Any]] = [
    {"name": "build", "status": "succeeded", "startedAt": "2026-11-20T10:00:02Z", "finishedAt": "2026-11-20T10:01:02Z"},
    {"name": "test", "status": "failed", "startedAt": "2026-11-20T10:00:03Z", "finishedAt": "2026-11-20T10:01:03Z"},
    {"name": "deploy", "status": "skipped", "startedAt": None, "finishedAt": "2026-11-20T10:01:00Z"},
]


@pytest.mark.django_db
@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (4, 3, 2, 1, 0), (3, 0, 4, 1, 2), (1, 4, 0, 2, 3)])
def test_the_jobs_of_a_workflow_are_the_steps_of_its_run(
    api: Api, client: Client, alice: Caller, docs: Project, order: tuple[int, ...]
) -> None:
    deliveries = [
        workflow_job("build", "in_progress", 2),
        workflow_job("build", "completed", 2, conclusion="success"),
        workflow_job("test", "completed", 3, conclusion="failure"),
        workflow_job("deploy", "completed", conclusion="skipped"),
        workflow_run("completed", 9, conclusion="failure"),
    ]
    for number in order:
        report(client, deliveries[number], deliveries[number])
    [run] = api(alice, "GET", "/v1/ci/runs")[1]["data"]
    assert (run["status"], run["steps"]) == ("failed", DONE)
    assert (run["url"], run["externalId"]) == ("https://forge.example/acme/docs/runs/7", "7")


@pytest.mark.django_db
def test_a_job_that_comes_first_makes_its_run(api: Api, client: Client, alice: Caller, docs: Project) -> None:
    report(client, workflow_job("build", "completed", 2, conclusion="success"))
    [run] = api(alice, "GET", "/v1/ci/runs")[1]["data"]
    assert (run["status"], run["ref"], run["commit"], run["url"]) == ("running", "main", "a" * 40, None)
    report(client, workflow_run("requested"))
    assert api(alice, "GET", f"/v1/ci/runs/{run['runId']}")[1]["status"] == "queued"


@pytest.mark.django_db
def test_a_further_attempt_replaces_the_jobs_that_it_runs(
    api: Api, client: Client, alice: Caller, docs: Project
) -> None:
    first = [workflow_job(name, "completed", 2, conclusion="failure") for name in ("build", "test")]
    again = workflow_job("test", "completed", 40, conclusion="success", run_attempt=2)
    report(client, workflow_run("completed", 9, conclusion="failure"), again, *first)
    [run] = api(alice, "GET", "/v1/ci/runs")[1]["data"]
    assert [(step["name"], step["status"]) for step in run["steps"]] == [("build", "failed"), ("test", "succeeded")]


@pytest.mark.django_db
def test_a_runs_steps_are_limited(client: Client, docs: Project) -> None:
    report(client, workflow_run("in_progress"))
    CIRun.objects.update(steps=[{**DONE[0], "name": f"job {n}", "attempt": 1} for n in range(STEPS_MAX)])
    report(client, workflow_job("one more", "queued"), workflow_job("job 7", "queued", run_attempt=2))
    steps = CIRun.objects.get().steps
    assert len(steps) == STEPS_MAX
    assert {step["status"] for step in steps if step["name"] == "job 7"} == {"queued"}


UNREADABLE: list[dict[str, Any]] = [
    *({member: value} for member in ("run_id", "run_attempt") for value in (-1, 1.5, "7", True, 2**64)),
    *({"status": value} for value in ("exploded", "completed", None, 7)),
    *({"name": value} for value in ("", "x" * 256, "a\0b", None, 7)),
    *({member: value} for member in ("started_at", "completed_at", "created_at") for value in (7, "soon")),
    {"head_sha": "a" * 65},
    {"head_branch": []},
]


@pytest.mark.django_db
@pytest.mark.parametrize("fields", UNREADABLE, ids=str)
def test_a_job_that_cannot_be_read(client: Client, docs: Project, fields: dict[str, Any]) -> None:
    body = workflow_job("build", "queued")
    body["workflow_job"] |= fields
    status, answer = deliver(client, "forge", body, event="workflow_job")
    assert (status, answer["error"]["code"]) == (400, "invalid_request")
    assert not CIRun.objects.exists()


STEP = {"name": "build", "status": "running", "startedAt": "2026-11-20T10:00:00Z", "finishedAt": None}
UNREAD = {"id", "run_url", "workflow_name", "steps", "labels", "runner_id"}
JOB = workflow_job("build", "in_progress", 2)
READ = {name: value for name, value in JOB["workflow_job"].items() if name not in UNREAD}
GOOD = [
    ("forge", None, workflow_run("requested")),
    ("forge", "workflow_job", {**JOB, "workflow_job": READ}),
    ("other", None, generic(1, steps=[STEP], url="https://ci.example/9")),
]


@pytest.mark.django_db
@pytest.mark.parametrize(("provider", "event", "good"), GOOD)
def test_hostile_deliveries_are_refused_or_harmless(
    api: Api, client: Client, alice: Caller, docs: Project, provider: str, event: str | None, good: dict[str, Any]
) -> None:
    client.raise_request_exception = False
    for where, body in spoiled(good):
        with transaction.atomic():
            status, answer = deliver(client, provider, body, event=event)
        assert status in (200, 400), (where, body[:200], answer)
    status, listed = api(alice, "GET", "/v1/ci/runs?limit=100")
    assert status == 200
    for run in listed["data"]:
        assert api(alice, "GET", f"/v1/ci/runs/{run['runId']}") == (200, run)


@pytest.mark.django_db(transaction=True)
def test_deliveries_at_once_lose_nothing() -> None:
    reported(project(make_caller().account.did))
    jobs = [workflow_job(name, "completed", 2, conclusion="success") for name in "abcd"]
    bodies = [*jobs, workflow_run("in_progress", 5), workflow_run("completed", 9, conclusion="success")]
    done = at_once(*(lambda body=body: _receive(body) for body in bodies * 2))
    assert done == [None] * 12
    run = CIRun.objects.get()
    assert (run.status, [step["name"] for step in run.steps]) == ("succeeded", list("abcd"))


def _receive(body: dict[str, Any]) -> None:
    """Process a delivery as the view does."""
    content, event = json.dumps(body).encode(), "workflow_job" if "workflow_job" in body else "workflow_run"
    ci_reports.receive("forge", content, signature_of(content), event)


@pytest.mark.django_db
def test_during_a_rotation_two_secrets_are_good(client: Client, docs: Project) -> None:
    CIProvider.objects.filter(name="forge").update(secret="newer", previous_secret=SECRET)
    body = workflow_run("requested")
    assert [deliver(client, "forge", body, secret=secret)[0] for secret in ("newer", SECRET)] == [200, 200]
    CIProvider.objects.filter(name="forge").update(previous_secret="")
    assert [deliver(client, "forge", body, secret=secret)[0] for secret in ("newer", SECRET, "")] == [200, 401, 401]


@pytest.mark.django_db
def test_both_secrets_rest_encrypted_and_outlive_a_rotation_of_the_fields_keys(
    client: Client, docs: Project, settings: Settings
) -> None:
    CIProvider.objects.filter(name="forge").update(secret="newer", previous_secret=SECRET)
    settings.FIELD_ENCRYPTION_KEYS = [Fernet.generate_key().decode(), *settings.FIELD_ENCRYPTION_KEYS]
    call_command("reencrypt", verbosity=0)
    settings.FIELD_ENCRYPTION_KEYS = settings.FIELD_ENCRYPTION_KEYS[:1]
    with connection.cursor() as cursor:
        cursor.execute("SELECT secret, previous_secret FROM integrations_ciprovider WHERE name = 'forge'")
        assert not {"newer", SECRET} & set(cursor.fetchone() or ())
    assert CIProvider.objects.get(name="forge").secrets == ["newer", SECRET]
