"""The API for sandbox runs: parameters, results, ownership and errors."""

import json
from typing import Any

import pytest

from gateway.celery import app
from gateway.core.contract.capabilities import Capability
from integrations import tasks
from integrations.models import ExecutionConfig, Project, SandboxRun, SandboxSettings
from integrations.operations import sandbox_runs
from organizations.rules.roles import Role
from tests.factories.accounts import Caller, make_caller
from tests.factories.organizations import Team, account
from tests.factories.proofs import Signer, mint_token
from tests.integrations.conftest import NOTHING, Api
from tests.integrations.sandbox import RUNS, SCOPES, configure, finished, queued, shell
from tests.integrations.test_projects import CREATED
from tests.integrations.test_projects import project as make_project

pytestmark = pytest.mark.django_db

MEMBERS = {
    *("runId", "projectId", "status", "exitCode", "stdout", "stderr", "truncated"),
    *("error", "createdAt", "startedAt", "finishedAt"),
}


@pytest.fixture(autouse=True)
def _sandbox() -> SandboxSettings:
    return configure(max_timeout_seconds=60, max_memory_mb=512)


@pytest.fixture
def alice() -> Caller:
    return make_caller(*SCOPES)


@pytest.fixture
def docs(alice: Caller) -> Project:
    return make_project(alice.account.did)


def of_organization(team: Team, name: str) -> Caller:
    signer, who = Signer(), account(name)
    token = mint_token(who.did, SCOPES, signer, org_id=team.id, membership_id=team[name].id)
    return Caller(who, SCOPES, signer, token)


def test_a_run_from_queue_to_end(api: Api, alice: Caller, docs: Project) -> None:
    body = {"projectId": docs.id, **shell("cat notes/a.txt -; echo oops >&2; exit 3")}
    status, made = api(alice, "POST", RUNS, {**body, "files": {"notes/a.txt": "héllo\n"}, "stdin": "in\n"})
    assert (status, made.keys(), made["status"]) == (202, MEMBERS, "queued")
    assert (made["exitCode"], made["stdout"], made["startedAt"], made["finishedAt"]) == (None, "", None, None)
    assert made["runId"].startswith("run_")
    assert tasks.execute_run(made["runId"])
    read = api(alice, "GET", f"{RUNS}/{made['runId']}")[1]
    assert (read["status"], read["exitCode"], read["truncated"], read["error"]) == ("failed", 3, False, None)
    assert (read["stdout"], read["stderr"]) == ("héllo\nin\n", "oops\n")
    assert made["createdAt"] <= read["startedAt"] <= read["finishedAt"]
    assert api(alice, "GET", RUNS)[1]["data"] == [read]
    assert SandboxRun.objects.get().inputs == ""


def test_a_run_is_queued_after_its_commit(
    api: Api, alice: Caller, docs: Project, django_capture_on_commit_callbacks: Any
) -> None:
    assert app.conf.task_routes == {"integrations.tasks.execute_*": {"queue": "sandbox"}}
    with django_capture_on_commit_callbacks(execute=True):
        run_id = queued(api, alice, docs, "echo told")
    assert api(alice, "GET", f"{RUNS}/{run_id}")[1]["stdout"] == "told\n"


def test_a_run_is_executed_once(api: Api, alice: Caller, docs: Project) -> None:
    run_id = queued(api, alice, docs, "true")
    assert [sandbox_runs.execute(run_id), sandbox_runs.execute(run_id)] == [True, False]
    assert api(alice, "GET", f"{RUNS}/{run_id}")[1]["status"] == "succeeded"


def test_the_projects_configuration_gives_the_defaults(api: Api, alice: Caller, docs: Project) -> None:
    ExecutionConfig.objects.create(
        project=docs,
        command=["sh", "-c", 'echo "$GREETING"; ulimit -v'],
        environment=json.dumps({"GREETING": "hi there"}),
        memory_mb=100,
        version=1,
        updated_at=CREATED,
    )
    made = api(alice, "POST", RUNS, {"projectId": docs.id})[1]
    assert sandbox_runs.execute(made["runId"])
    assert api(alice, "GET", f"{RUNS}/{made['runId']}")[1]["stdout"] == f"hi there\n{100 * 1024}\n"


def test_without_any_command_the_member_is_named(api: Api, alice: Caller, docs: Project) -> None:
    status, body = api(alice, "POST", RUNS, {"projectId": docs.id})
    assert (status, body["error"]["code"], body["error"]["param"]) == (400, "invalid_request", "command")


def test_output_has_a_bound_for_each_stream(api: Api, alice: Caller, docs: Project) -> None:
    read = finished(api, alice, docs, "head -c 300000 /dev/zero | tr '\\0' x; printf 'a\\000b\\377' >&2")
    assert (len(read["stdout"]), read["truncated"], read["status"]) == (256 * 1024, True, "succeeded")
    assert read["stderr"] == "a\ufffdb\ufffd"


def test_a_run_ends_with_its_time(api: Api, alice: Caller, docs: Project) -> None:
    seconds = 10  # a busy machine takes some of them until the program begins
    read = finished(api, alice, docs, "echo begun; sleep 600", timeoutSeconds=seconds)
    assert (read["status"], read["exitCode"], read["stdout"]) == ("timed_out", None, "begun\n")
    assert read["error"]["code"] == "timed_out"


def test_the_same_key_is_the_same_run(api: Api, alice: Caller, docs: Project) -> None:
    body = {"projectId": docs.id, **shell("true"), "idempotencyKey": "k1"}
    status, made = api(alice, "POST", RUNS, body)
    assert status == 202
    assert api(alice, "POST", RUNS, body) == (202, made)
    status, refused = api(alice, "POST", RUNS, {**body, "stdin": "x"})
    assert (status, refused["error"]["code"]) == (422, "idempotency_key_reused")
    assert SandboxRun.objects.count() == 1


def test_a_queued_run_is_cancelled_at_once(api: Api, alice: Caller, docs: Project) -> None:
    run_id = queued(api, alice, docs, "true")
    status, body = api(alice, "POST", f"{RUNS}/{run_id}/cancel", {"force": True})
    assert (status, body["error"]["code"], body["error"]["param"]) == (400, "invalid_request", "force")
    status, body = api(alice, "POST", f"{RUNS}/{run_id}/cancel")
    assert (status, body["status"]) == (202, "cancelled")
    assert api(alice, "POST", f"{RUNS}/{run_id}/cancel") == (202, body)
    assert not sandbox_runs.execute(run_id)


def test_a_finished_run_does_not_change(api: Api, alice: Caller, docs: Project) -> None:
    read = finished(api, alice, docs, "true")
    assert api(alice, "POST", f"{RUNS}/{read['runId']}/cancel") == (202, read)


REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("command", {"command": "sh"}),
    ("command", {"command": [""]}),
    ("command", {"command": ["sh", "nul\0"]}),
    ("command", {"command": ["sh", ["-c"]]}),
    ("command", {"command": ["x" * 16385]}),
    ("command", {"command": ["x"] * 101}),
    ("command", {"command": None}),
    ("projectId", {"projectId": "nul\0"}),
    ("files", {"files": {"a": "nul\0"}}),
    ("files", {"files": {"del\x7f": ""}}),
    ("stdin", {"stdin": "nul\0"}),
    ("files", {"files": []}),
    ("files", {"files": {"/etc/x": ""}}),
    ("files", {"files": {"../x": ""}}),
    ("files", {"files": {"a/../../x": ""}}),
    ("files", {"files": {"a/./x": ""}}),
    ("files", {"files": {"a//x": ""}}),
    ("files", {"files": {"": ""}}),
    ("files", {"files": {"nul\0": ""}}),
    ("files", {"files": {"line\nfeed": ""}}),
    ("files", {"files": {"x" * 256: ""}}),
    ("files", {"files": {"a": "", "a/b": ""}}),
    ("files", {"files": {"a": 7}}),
    ("files", {"files": {str(number): "" for number in range(201)}}),
    ("stdin", {"stdin": 7}),
    ("timeoutSeconds", {"timeoutSeconds": 0}),
    ("timeoutSeconds", {"timeoutSeconds": 61}),
    ("timeoutSeconds", {"timeoutSeconds": 2**70}),
    ("idempotencyKey", {"idempotencyKey": "ä"}),
    ("comand", {"comand": []}),
]


@pytest.mark.parametrize(("param", "members"), REFUSED)
def test_errors_name_the_invalid_member(
    api: Api, alice: Caller, docs: Project, param: str, members: dict[str, Any]
) -> None:
    status, answer = api(alice, "POST", RUNS, {"projectId": docs.id, **shell("true"), **members})
    assert (status, answer["error"]["code"]) == (400, "invalid_request")
    assert answer["error"]["param"].partition(".")[0] == param
    assert not SandboxRun.objects.exists()


def test_a_body_has_one_mebibyte(api: Api, alice: Caller, docs: Project) -> None:
    body = {"projectId": docs.id, **shell("true"), "stdin": "x" * 1024 * 1024}
    assert api(alice, "POST", RUNS, body)[0] == 413
    assert api(alice, "POST", RUNS, {**body, "stdin": "x" * 1_000_000})[0] == 202


def test_a_projects_concurrent_runs_are_limited(api: Api, alice: Caller, docs: Project) -> None:
    for _ in range(20):
        run_id = queued(api, alice, docs, "true")
    status, body = api(alice, "POST", RUNS, {"projectId": docs.id, **shell("true")})
    assert (status, body["error"]["code"]) == (429, "rate_limited")
    limit = {"scope": "project", "limit": "active_executions", "remaining": 0, "retryAfterSeconds": 5}
    assert body["error"]["details"] == limit
    api(alice, "POST", f"{RUNS}/{run_id}/cancel")
    queued(api, alice, docs, "true")


def test_a_strangers_run_and_project_are_unknown(api: Api, alice: Caller, docs: Project) -> None:
    run_id, bob = queued(api, alice, docs, "true"), make_caller(*SCOPES, name="bob")
    assert api(bob, "GET", f"{RUNS}/{run_id}")[0] == 404
    assert api(bob, "POST", f"{RUNS}/{run_id}/cancel")[0] == 404
    assert api(bob, "GET", RUNS) == (200, NOTHING)
    status, body = api(bob, "POST", RUNS, {"projectId": docs.id, **shell("true")})
    assert (status, body["error"]["code"], body["error"]["param"]) == (404, "not_found", "projectId")
    assert api(alice, "GET", f"{RUNS}/{run_id}")[1]["status"] == "queued"


def test_a_person_and_an_organization_of_theirs_see_nothing_of_each_other(api: Api) -> None:
    team, other = Team(), Team("oscar")
    for each in (team, other):
        each.join("mia")
    person = Caller(account("mia"), SCOPES)
    callers = [
        (person, make_project(person.account.did)),
        (of_organization(team, "mia"), make_project(team.id, kind="organization")),
        (of_organization(other, "mia"), make_project(other.id, kind="organization")),
    ]
    run_ids = [queued(api, who, project, "true") for who, project in callers]
    for who, project in callers:
        own = run_ids[callers.index((who, project))]
        assert [run["runId"] for run in api(who, "GET", RUNS)[1]["data"]] == [own]
        for run_id in set(run_ids) - {own}:
            assert api(who, "GET", f"{RUNS}/{run_id}")[1]["error"]["code"] == "not_found"
            assert api(who, "POST", f"{RUNS}/{run_id}/cancel")[1]["error"]["code"] == "not_found"
        for _, foreign in callers:
            status, _ = api(who, "POST", RUNS, {"projectId": foreign.id, **shell("true"), "idempotencyKey": "same"})
            assert status == (202 if foreign == project else 404)
    assert set(SandboxRun.objects.values_list("status", flat=True)) == {"queued"}


def test_members_cancel_their_own_and_admins_all(api: Api) -> None:
    team = Team()
    team.join("mia")
    team.join("adam", Role.ADMIN)
    team.join("max")
    project = make_project(team.id, kind="organization")
    mia, adam, other = (of_organization(team, name) for name in ("mia", "adam", "max"))
    first, second = queued(api, mia, project, "true"), queued(api, mia, project, "true")
    status, body = api(other, "POST", f"{RUNS}/{first}/cancel")
    assert (status, body["error"]["code"]) == (403, "forbidden")
    assert api(other, "GET", f"{RUNS}/{first}")[1]["status"] == "queued"
    assert api(mia, "POST", f"{RUNS}/{first}/cancel")[1]["status"] == "cancelled"
    assert api(adam, "POST", f"{RUNS}/{second}/cancel")[1]["status"] == "cancelled"


def test_each_scope_is_needed(api: Api, docs: Project) -> None:
    nobody = make_caller(Capability.PROJECTS_READ, name="nobody")
    for method, path in (("GET", RUNS), ("POST", RUNS), ("GET", f"{RUNS}/run_x"), ("POST", f"{RUNS}/run_x/cancel")):
        assert api(nobody, method, path)[1]["error"]["code"] == "insufficient_scope"


def test_without_its_section_the_sandbox_is_unavailable(api: Api, alice: Caller, docs: Project) -> None:
    SandboxSettings.objects.all().delete()
    for method, path in (("GET", RUNS), ("POST", RUNS), ("GET", f"{RUNS}/run_x"), ("POST", f"{RUNS}/run_x/cancel")):
        status, body = api(alice, method, path, {} if path == RUNS and method == "POST" else None)
        assert (status, body["error"]["code"]) == (503, "integration_unavailable")
