"""CI runs: signed webhooks in both formats, out of order and repeated, and access to the runs."""

import hashlib
import hmac
import itertools
import json
from typing import Any

import pytest
from django.test import Client

from gateway.core.contract.capabilities import Capability
from gateway.core.contract.limits import CI_WEBHOOK_BODY_MAX_BYTES
from integrations.models import CIProvider, CIRepository, CIRun, Project
from tests.factories.accounts import Caller, make_caller
from tests.integrations.conftest import NOTHING, Api
from tests.integrations.test_projects import project

pytestmark = pytest.mark.django_db

SCOPE = Capability.CI_READ
SECRET = "webhook-secret"


@pytest.fixture
def alice() -> Caller:
    return make_caller(SCOPE)


@pytest.fixture
def docs(alice: Caller) -> Project:
    """Configure two providers for one of Alice's projects."""
    return reported(project(alice.account.did))


def reported(one: Project) -> Project:
    """Configure a provider of each format for a project."""
    for name, kind, repository in (("forge", "workflow_run", "acme/docs"), ("other", "generic", "docs")):
        provider = CIProvider.objects.create(name=name, format=kind, secret=SECRET)
        CIRepository.objects.create(provider=provider, name=repository, project=one)
    return one


def signature_of(content: bytes, secret: str = SECRET) -> str:
    return "sha256=" + hmac.new(secret.encode(), content, hashlib.sha256).hexdigest()


def deliver(
    client: Client,
    provider: str,
    body: Any,
    *,
    secret: str = SECRET,
    event: str | None = "workflow_run",
    **headers: str,
) -> tuple[int, Any]:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent = {
        "X-Hub-Signature-256": signature_of(content, secret),
        **({"X-GitHub-Event": event} if event else {}),
        **headers,
    }
    answer = client.post(f"/webhooks/ci/{provider}", content, content_type="application/json", headers=sent)
    return answer.status_code, answer.json()


def workflow_run(status: str, second: int = 0, **fields: Any) -> dict[str, Any]:
    run = {
        "id": 7,
        "run_attempt": 1,
        "head_branch": "main",
        "head_sha": "a" * 40,
        "status": status,
        "conclusion": None,
        "html_url": "https://forge.example/acme/docs/runs/7",
        "created_at": "2026-11-20T10:00:00Z",
        "updated_at": f"2026-11-20T10:00:{second:02}Z",
        **fields,
    }
    return {"action": status, "workflow_run": run, "repository": {"full_name": "acme/docs"}}


def generic(sequence: int, status: str = "running", **fields: Any) -> dict[str, Any]:
    return {
        "repository": "docs",
        "externalId": "build-9",
        "ref": "refs/heads/main",
        "commit": "b" * 40,
        "status": status,
        "sequence": sequence,
        **fields,
    }


def test_a_workflow_run_from_queued_to_done(api: Api, client: Client, alice: Caller, docs: Project) -> None:
    assert deliver(client, "forge", workflow_run("requested")) == (200, {"received": True})
    [queued] = api(alice, "GET", "/v1/ci/runs")[1]["data"]
    assert queued == {
        "runId": queued["runId"],
        "projectId": docs.id,
        "provider": "forge",
        "externalId": "7",
        "ref": "main",
        "commit": "a" * 40,
        "status": "queued",
        "steps": [],
        "url": "https://forge.example/acme/docs/runs/7",
        "createdAt": "2026-11-20T10:00:00Z",
        "finishedAt": None,
    }
    assert queued["runId"].startswith("ci_")
    deliver(client, "forge", workflow_run("in_progress", 5))
    path = f"/v1/ci/runs/{queued['runId']}"
    assert api(alice, "GET", path) == (200, {**queued, "status": "running"})
    deliver(client, "forge", workflow_run("completed", 9, conclusion="success"))
    done = {**queued, "status": "succeeded", "finishedAt": "2026-11-20T10:00:09Z"}
    assert api(alice, "GET", path) == (200, done)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_order_of_deliveries_does_not_matter(
    api: Api, client: Client, alice: Caller, docs: Project, order: Any
) -> None:
    deliveries = [
        workflow_run("requested"),
        workflow_run("in_progress"),  # within the same second
        workflow_run("completed", 9, conclusion="failure"),
    ]
    for number in order:
        for _ in range(2):
            assert deliver(client, "forge", deliveries[number])[0] == 200
    [run] = api(alice, "GET", "/v1/ci/runs")[1]["data"]
    assert (run["status"], run["finishedAt"]) == ("failed", "2026-11-20T10:00:09Z")


def test_a_further_attempt_is_the_same_run_running_again(
    api: Api, client: Client, alice: Caller, docs: Project
) -> None:
    deliver(client, "forge", workflow_run("completed", 9, conclusion="failure"))
    again = workflow_run("in_progress", 8, run_attempt=2)
    deliver(client, "forge", again)
    deliver(client, "forge", workflow_run("completed", 30, conclusion="failure"))  # late, about attempt 1
    [run] = api(alice, "GET", "/v1/ci/runs")[1]["data"]
    assert (run["status"], run["finishedAt"]) == ("running", None)


CONCLUSIONS = {
    **dict.fromkeys(("success", "neutral", "skipped"), "succeeded"),
    **dict.fromkeys(("failure", "timed_out", "startup_failure", "action_required"), "failed"),
    **dict.fromkeys(("cancelled", "stale"), "cancelled"),
}


@pytest.mark.parametrize(("conclusion", "status"), CONCLUSIONS.items())
def test_conclusions(api: Api, client: Client, alice: Caller, docs: Project, conclusion: str, status: str) -> None:
    deliver(client, "forge", workflow_run("completed", conclusion=conclusion))
    assert api(alice, "GET", "/v1/ci/runs")[1]["data"][0]["status"] == status


@pytest.mark.parametrize(
    ("first", "second"), [("running", "succeeded"), ("succeeded", "running"), ("failed", "succeeded")]
)
def test_of_two_deliveries_with_one_sequence_the_first_stands(
    api: Api, client: Client, alice: Caller, docs: Project, first: str, second: str
) -> None:
    deliver(client, "other", generic(0, "queued"))
    deliver(client, "other", generic(1, first))
    [before] = api(alice, "GET", "/v1/ci/runs")[1]["data"]
    step = {"name": "test", "status": "succeeded"}
    assert deliver(client, "other", generic(1, second, ref="refs/heads/other", steps=[step])) == (
        200,
        {"received": True},
    )
    assert api(alice, "GET", "/v1/ci/runs")[1]["data"] == [before]
    assert before["status"] == first
    deliver(client, "other", generic(2, second))
    assert api(alice, "GET", "/v1/ci/runs")[1]["data"][0]["status"] == second


def test_the_generic_format_has_steps_and_a_sequence(api: Api, client: Client, alice: Caller, docs: Project) -> None:
    build = {"name": "build", "status": "succeeded", "startedAt": "2026-11-20T10:00:00Z"}
    steps = [
        {**build, "finishedAt": "2026-11-20T11:01:00+01:00"},
        {"name": "deploy", "status": "skipped"},
    ]
    deliver(client, "other", generic(2, "succeeded", steps=steps))
    deliver(client, "other", generic(1))
    [run] = api(alice, "GET", "/v1/ci/runs")[1]["data"]
    assert (run["status"], run["externalId"], run["ref"], run["url"]) == (
        "succeeded",
        "build-9",
        "refs/heads/main",
        None,
    )
    assert run["steps"] == [
        {**build, "finishedAt": "2026-11-20T10:01:00Z"},
        {"name": "deploy", "status": "skipped", "startedAt": None, "finishedAt": None},
    ]
    assert run["finishedAt"] == "2026-11-20T10:01:00Z"


def test_a_bad_signature_is_refused(client: Client, docs: Project) -> None:
    body = workflow_run("requested")
    assert deliver(client, "forge", body, secret="another")[0] == 401
    for signature in ("", "sha256=", "sha1=00", "sha256=\xe9", "sha256=" + "0" * 64):
        status, answer = deliver(client, "forge", body, **{"X-Hub-Signature-256": signature})
        assert (status, answer["error"]["code"]) == (401, "invalid_token")
    assert not CIRun.objects.exists()


def test_an_unknown_provider_is_not_found(client: Client, docs: Project) -> None:
    assert deliver(client, "nobody", workflow_run("requested"))[0] == 404


def test_without_any_provider_webhooks_are_unavailable(client: Client) -> None:
    status, answer = deliver(client, "forge", workflow_run("requested"))
    assert (status, answer["error"]["code"]) == (503, "integration_unavailable")


@pytest.mark.parametrize("event", ["ping", "check_run", "push", "workflow_job"])
def test_other_events_change_nothing(client: Client, docs: Project, event: str) -> None:
    assert deliver(client, "forge", {"zen": "Keep it logically awesome."}, event=event)[0] == 200
    assert not CIRun.objects.exists()


def test_an_unknown_repository_changes_nothing(client: Client, docs: Project) -> None:
    body = {**workflow_run("requested"), "repository": {"full_name": "acme/other"}}
    assert deliver(client, "forge", body)[0] == 200
    assert not CIRun.objects.exists()


UNREADABLE: list[tuple[str, Any]] = [
    ("forge", b"not JSON"),
    ("forge", b"[]"),
    ("forge", b'{"a":1,"a":2}'),
    ("forge", b"\xff"),
    ("forge", {}),
    ("forge", {**workflow_run("requested"), "workflow_run": []}),
    ("forge", {**workflow_run("requested"), "repository": {"full_name": 7}}),
    ("forge", workflow_run("exploded")),
    ("forge", workflow_run("completed")),
    ("forge", workflow_run("completed", conclusion="exploded")),
    ("forge", workflow_run("requested", id="7")),
    ("forge", workflow_run("requested", id=-1)),
    ("forge", workflow_run("requested", id=True)),
    ("forge", workflow_run("requested", run_attempt=2**31)),
    ("forge", workflow_run("requested", updated_at=None)),
    ("forge", workflow_run("requested", updated_at="yesterday")),
    ("forge", workflow_run("requested", updated_at="2026-11-20T10:00:00")),
    ("forge", workflow_run("requested", updated_at="0001-01-01T00:00:00+14:00")),
    ("forge", workflow_run("requested", head_sha="a" * 65)),
    ("forge", workflow_run("requested", head_sha="a\0")),
    ("forge", workflow_run("requested", html_url="javascript:alert(1)")),
    ("forge", workflow_run("requested", html_url="https://[")),
    ("other", generic(1, "exploded")),
    ("other", generic(-1)),
    ("other", generic(2**63)),
    ("other", {**generic(1), "sequence": None}),
    ("other", generic(1, externalId="")),
    ("other", generic(1, externalId="x" * 256)),
    ("other", generic(1, steps={})),
    ("other", generic(1, steps=[7])),
    ("other", generic(1, steps=[{"name": "x", "status": "exploded"}])),
    ("other", generic(1, steps=[{"name": "x", "status": "queued", "startedAt": 7}])),
    ("other", generic(1, steps=[{"name": "x", "status": "queued"}] * 1001)),
]


@pytest.mark.parametrize(("provider", "body"), UNREADABLE)
def test_a_signed_body_that_cannot_be_read(client: Client, docs: Project, provider: str, body: Any) -> None:
    status, answer = deliver(client, provider, body)
    assert (status, answer["error"]["code"]) in ((400, "invalid_request"), (400, "invalid_json"))
    assert not CIRun.objects.exists()


NAMED = [
    ("forge", workflow_run("requested", head_sha=7), "workflow_run.head_sha"),
    ("forge", workflow_run("exploded"), "workflow_run.status"),
    ("forge", workflow_run("requested", updated_at=None), "workflow_run.updated_at"),
    ("forge", {**workflow_run("requested"), "repository": {"full_name": 7}}, "repository.full_name"),
    ("other", generic(1, ref=7), "ref"),
    ("other", generic(1, steps={}), "steps"),
    ("other", generic(1, steps=[{"name": "x", "status": "queued"}, 7]), "steps.1"),
    ("other", generic(1, steps=[{"name": "x", "status": "exploded"}]), "steps.0.status"),
    ("other", generic(1, steps=[{"name": "x", "status": "queued", "startedAt": "yesterday"}]), "steps.0.startedAt"),
]


@pytest.mark.parametrize(("provider", "body", "param"), NAMED, ids=[param for *_, param in NAMED])
def test_errors_name_the_malformed_member(
    client: Client, docs: Project, provider: str, body: dict[str, Any], param: str
) -> None:
    assert deliver(client, provider, body)[1]["error"]["param"] == param


def test_large_deliveries(client: Client, docs: Project) -> None:
    padded = {**workflow_run("requested"), "padding": "x" * (CI_WEBHOOK_BODY_MAX_BYTES - 2000)}
    assert deliver(client, "forge", padded)[0] == 200
    assert CIRun.objects.count() == 1
    assert deliver(client, "forge", b" " * (CI_WEBHOOK_BODY_MAX_BYTES + 1))[0] == 413


def test_a_strangers_runs_are_unknown(api: Api, client: Client, alice: Caller, docs: Project) -> None:
    deliver(client, "other", generic(1))
    run = CIRun.objects.get()
    bob = make_caller(SCOPE, name="bob")
    assert api(bob, "GET", "/v1/ci/runs") == (200, NOTHING)
    assert api(bob, "GET", f"/v1/ci/runs/{run.id}")[0] == 404
    assert api(alice, "GET", f"/v1/ci/runs/{run.id}")[0] == 200


def test_a_project_that_changes_hands_takes_its_runs_along(
    api: Api, client: Client, alice: Caller, docs: Project
) -> None:
    deliver(client, "other", generic(1))
    bob = make_caller(SCOPE, name="bob")
    Project.objects.update(owner_key=bob.account.did)
    assert api(alice, "GET", "/v1/ci/runs")[1]["data"] == []
    assert len(api(bob, "GET", "/v1/ci/runs")[1]["data"]) == 1


def test_the_list_is_newest_first_and_limited(api: Api, client: Client, alice: Caller, docs: Project) -> None:
    for number in range(3):
        deliver(client, "other", generic(1, externalId=f"build-{number}"))
    data = api(alice, "GET", "/v1/ci/runs?limit=2")[1]["data"]
    assert [run["externalId"] for run in data] == ["build-2", "build-1"]
    status, body = api(alice, "GET", "/v1/ci/runs?limit=0")
    assert (status, body["error"]["param"]) == (400, "limit")


def test_without_a_provider_it_is_unavailable(api: Api, alice: Caller) -> None:
    for path in ("/v1/ci/runs", "/v1/ci/runs/ci_x"):
        status, body = api(alice, "GET", path)
        assert (status, body["error"]["code"]) == (503, "integration_unavailable")
