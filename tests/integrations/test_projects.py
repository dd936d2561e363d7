"""Projects and their execution configurations: ownership, limits and changes."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection

from gateway.core.contract.capabilities import Capability
from gateway.core.contract.errors import NotFound
from gateway.core.contract.ids import new_id
from integrations.models import Project, SandboxSettings
from integrations.operations.execution_configs import replace
from integrations.queries.execution_configs import of_project
from organizations.rules.roles import Role
from tests.factories.accounts import Caller, make_caller
from tests.factories.organizations import Team, account, product
from tests.factories.proofs import Signer, mint_token
from tests.integrations.conftest import NOTHING, Api
from tests.support.concurrency import at_once, count

pytestmark = pytest.mark.django_db

SCOPES = (Capability.PROJECTS_READ, Capability.PROJECTS_CONFIGURE)
CREATED = datetime(2026, 11, 1, tzinfo=UTC)
DEFAULTS = {
    "runtime": "default",
    "command": [],
    "environment": {},
    "timeoutSeconds": 30,
    "memoryMb": 256,
    "network": "none",
}


def project(owner: str, name: str = "Docs", *, slug: str = "studio", kind: str = "account") -> Project:
    product(slug)
    count = Project.objects.count()
    return Project.objects.create(
        id=new_id("prj"),
        key=f"p{count}",
        owner_kind=kind,
        owner_key=owner,
        product_id=slug,
        name=name,
        created_at=CREATED.replace(day=1 + count),
    )


def config_path(one: Project) -> str:
    return f"/v1/projects/{one.id}/execution-config"


def of_organization(team: Team, name: str, **fields: Any) -> Caller:
    signer, who = Signer(), account(name)
    fields = {"org_id": team.id, "membership_id": team[name].id, **fields}
    return Caller(who, SCOPES, signer, mint_token(who.did, SCOPES, signer, **fields))


def test_projects_of_the_account_newest_first(api: Api) -> None:
    alice, bob = make_caller(*SCOPES), make_caller(*SCOPES, name="bob")
    first, second = project(alice.account.did), project(alice.account.did, "Site", slug="courier")
    project(bob.account.did)
    status, body = api(alice, "GET", "/v1/projects")
    assert status == 200
    assert body["data"] == [
        {"projectId": second.id, "name": "Site", "product": "courier", "createdAt": "2026-11-02T00:00:00Z"},
        {"projectId": first.id, "name": "Docs", "product": "studio", "createdAt": "2026-11-01T00:00:00Z"},
    ]


def test_a_token_with_a_product_sees_that_products_projects(api: Api) -> None:
    alice = make_caller(*SCOPES, product="studio")
    mine, other = project(alice.account.did), project(alice.account.did, slug="courier")
    assert [one["projectId"] for one in api(alice, "GET", "/v1/projects")[1]["data"]] == [mine.id]
    assert api(alice, "GET", config_path(other))[0] == 404


def test_without_any_project_the_integration_is_unavailable(api: Api) -> None:
    alice = make_caller(*SCOPES)
    for method, path in (("GET", "/v1/projects"), ("GET", "/v1/projects/prj_x/execution-config")):
        status, body = api(alice, method, path)
        assert (status, body["error"]["code"]) == (503, "integration_unavailable")
    project("did:web:studio.example:somebody")
    assert api(alice, "GET", "/v1/projects") == (200, NOTHING)


@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_a_strangers_project_is_an_unknown_one(api: Api, method: str) -> None:
    alice, theirs = make_caller(*SCOPES), project("did:web:studio.example:bob")
    body: dict[str, Any] | None = {} if method == "PUT" else None
    status, answer = api(alice, method, config_path(theirs), body)
    assert (status, answer["error"]["code"]) == (404, "not_found")
    assert (
        answer["error"]["message"] == api(alice, method, "/v1/projects/x/execution-config", body)[1]["error"]["message"]
    )


def test_defaults_hold_before_the_first_put(api: Api) -> None:
    alice = make_caller(*SCOPES)
    one = project(alice.account.did)
    expected = {"projectId": one.id, **DEFAULTS, "version": 0, "updatedAt": "2026-11-01T00:00:00Z"}
    assert api(alice, "GET", config_path(one)) == (200, expected)


def test_put_replaces_everything_and_counts_versions(api: Api) -> None:
    alice = make_caller(*SCOPES)
    one = project(alice.account.did)
    stated = {
        "runtime": "default",
        "command": ["python3", "-c", "print(' x ')", ""],
        "environment": {"API_KEY": "s3cret", "EMPTY": ""},
        "timeoutSeconds": 60,
        "memoryMb": 512,
        "network": "none",
    }
    status, body = api(alice, "PUT", config_path(one), stated)
    assert status == 200
    assert {**body, **stated, "version": 1} == body
    assert api(alice, "GET", config_path(one)) == (200, body)
    status, body = api(alice, "PUT", config_path(one), {"command": ["true"]})
    assert {**body, **DEFAULTS, "command": ["true"], "version": 2} == body


def test_the_environment_rests_encrypted(api: Api) -> None:
    alice = make_caller(*SCOPES)
    api(alice, "PUT", config_path(project(alice.account.did)), {"environment": {"API_KEY": "s3cret"}})
    with connection.cursor() as cursor:
        cursor.execute("SELECT environment FROM integrations_executionconfig")
        [[stored]] = cursor.fetchall()
    assert "s3cret" not in stored


def test_if_match_is_compared_with_the_version(api: Api) -> None:
    alice = make_caller(*SCOPES)
    path = config_path(project(alice.account.did))
    assert api(alice, "PUT", path, {}, **{"If-Match": "0"})[1]["version"] == 1
    assert api(alice, "PUT", path, {}, **{"If-Match": '"1"'})[1]["version"] == 2
    status, body = api(alice, "PUT", path, {}, **{"If-Match": "1"})
    assert (status, body["error"]["code"], body["error"]["details"]) == (409, "revision_conflict", {"version": 2})
    assert api(alice, "GET", path)[1]["version"] == 2


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("version", [0, None])
def test_of_changes_at_once_each_counts_and_of_the_compared_one_wins(version: int | None) -> None:
    one = project(make_caller().account.did)
    values = {**DEFAULTS, "command": ["true"]}
    done = at_once(*[lambda: replace(one, values, expected_version=version).version] * 6)
    won = [result for result in done if isinstance(result, int)]
    assert sorted(won) == ([1] if version == 0 else [1, 2, 3, 4, 5, 6])
    assert count(done, "revision_conflict") == 6 - len(won)
    assert of_project(one).version == len(won)


def test_a_project_that_was_deleted_meanwhile_is_an_unknown_one() -> None:
    one = project(make_caller().account.did)
    Project.objects.all().delete()
    with pytest.raises(NotFound):
        replace(one, DEFAULTS, expected_version=None)


@pytest.mark.parametrize("sent", ['"1', "one", "-1", "1.0", "*", 'W/"1"', "1, 2", ""])
def test_if_match_is_a_version(api: Api, sent: str) -> None:
    alice = make_caller(*SCOPES)
    status, body = api(alice, "PUT", config_path(project(alice.account.did)), {}, **{"If-Match": sent})
    assert (status, body["error"]["code"], body["error"]["param"]) == (400, "invalid_request", "If-Match")


REFUSED: list[tuple[str, Any]] = [
    ("runtime", "other"),
    ("runtime", 7),
    ("command", "python3"),
    ("command", [7]),
    ("command", ["a\0b"]),
    ("command", ["x"] * 101),
    ("environment", []),
    ("environment", {"1A": "x"}),
    ("environment", {"A=B": "x"}),
    ("environment", {"A": 7}),
    ("environment", {"A": "a\0b"}),
    ("environment", {f"A{number}": "x" for number in range(101)}),
    ("timeoutSeconds", 0),
    ("timeoutSeconds", 61),
    ("timeoutSeconds", "30"),
    ("timeoutSeconds", True),
    ("timeoutSeconds", 10**30),
    ("memoryMb", 15),
    ("memoryMb", 513),
    ("network", "egress"),
    ("network", "all"),
    ("timeout", 30),
]


@pytest.mark.parametrize(("member", "value"), REFUSED)
def test_errors_name_the_invalid_member(api: Api, member: str, value: Any) -> None:
    alice = make_caller(*SCOPES)
    path = config_path(project(alice.account.did))
    status, body = api(alice, "PUT", path, {member: value})
    assert (status, body["error"]["code"]) == (400, "invalid_request")
    assert body["error"]["param"].partition(".")[0] == member
    assert api(alice, "GET", path)[1]["version"] == 0


def test_the_operators_limits_hold(api: Api) -> None:
    alice = make_caller(*SCOPES)
    path = config_path(project(alice.account.did))
    SandboxSettings.objects.create(
        runner="bubblewrap", runtimes=["node"], max_timeout_seconds=600, max_memory_mb=2048, network="egress"
    )
    stated = {"runtime": "node", "timeoutSeconds": 600, "memoryMb": 2048, "network": "egress"}
    assert api(alice, "PUT", path, stated)[0] == 200
    assert api(alice, "PUT", path, {**stated, "timeoutSeconds": 601})[1]["error"]["param"] == "timeoutSeconds"
    assert api(alice, "PUT", path, {**stated, "runtime": "default"})[1]["error"]["param"] == "runtime"


def test_defaults_are_within_the_operators_limits(api: Api) -> None:
    alice = make_caller(*SCOPES)
    path = config_path(project(alice.account.did))
    SandboxSettings.objects.create(runner="bubblewrap", runtimes=["default"], max_timeout_seconds=10, max_memory_mb=64)
    within = {"timeoutSeconds": 10, "memoryMb": 64}
    body = api(alice, "GET", path)[1]
    assert body == {**body, **DEFAULTS, **within, "version": 0}
    status, body = api(alice, "PUT", path, {"command": ["true"]})
    assert status == 200
    assert body == {**body, **DEFAULTS, **within, "command": ["true"], "version": 1}


def test_an_organizations_token_sees_the_organizations_projects(api: Api) -> None:
    team = Team()
    mine, ours = project(team.owner.did), project(team.id, kind="organization")
    olivia = of_organization(team, "olivia")
    assert [one["projectId"] for one in api(olivia, "GET", "/v1/projects")[1]["data"]] == [ours.id]
    assert api(olivia, "GET", config_path(mine))[0] == 404


@pytest.mark.parametrize(("role", "status"), [("owner", 200), ("admin", 200), ("billing", 403), ("member", 403)])
def test_people_managers_configure(api: Api, role: str, status: int) -> None:
    team = Team()
    ours = project(team.id, kind="organization")
    name = "olivia" if role == "owner" else role
    if role != "owner":
        team.join(name, Role(role))
    who = of_organization(team, name)
    assert api(who, "GET", config_path(ours))[0] == 200
    assert api(who, "PUT", config_path(ours), {})[0] == status
