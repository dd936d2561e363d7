"""Pagination of the integrations' lists: while rows are added, and with other owners' cursors."""

from datetime import timedelta
from typing import Any, NamedTuple

import pytest
from django.db.models import Model
from django.test import Client
from django.utils import timezone

from gateway.core.contract.ids import new_id
from integrations.models import CIRun, EvolutionArtifact, EvolutionEvidence, EvolutionJob, Project, SandboxRun
from tests.factories.accounts import Caller, make_caller
from tests.integrations.belongings import SCOPES, Belongings, belongings, switch_on
from tests.integrations.conftest import Api

pytestmark = pytest.mark.django_db

ROWS, PAGE = 7, 3


class List(NamedTuple):
    """A list, its model, the names of its ids in responses and in `Belongings`, and its unique column."""

    path: str
    model: type[Model]
    id_member: str
    own: str
    unique: str = ""


LISTS = [
    List("/v1/projects", Project, "projectId", "project_id", "key"),
    List("/v1/sandbox/runs", SandboxRun, "runId", "run_id"),
    List("/v1/ci/runs", CIRun, "runId", "run_id", "external_id"),
    List("/v1/evolution/artifacts", EvolutionArtifact, "artifactId", "artifact_id", "sha256"),
    List("/v1/evolution/evidence", EvolutionEvidence, "evidenceId", "evidence_id"),
    List("/v1/evolution/jobs", EvolutionJob, "jobId", "job_id"),
]
every_list = pytest.mark.parametrize("one", LISTS, ids=[one.path for one in LISTS])


@pytest.fixture
def alice() -> Caller:
    switch_on()
    return make_caller(*SCOPES)


@pytest.fixture
def hers(alice: Caller) -> Belongings:
    return belongings(alice.account.did)


def add(one: List, like: str, *, age_seconds: int) -> str:
    """Add a copy of an existing row. Several may have the same age."""
    row: Any = one.model._default_manager.get(pk=like)
    row.pk = new_id("row")
    row.created_at = timezone.now().replace(microsecond=0) - timedelta(seconds=age_seconds)
    if one.unique:
        setattr(row, one.unique, row.pk)
    row.save(force_insert=True)
    return str(row.pk)


def page(api: Api, who: Caller, one: List, query: str) -> dict[str, Any]:
    status, body = api(who, "GET", one.path + query)
    assert status == 200, body
    ids = [item[one.id_member] for item in body["data"]]
    assert (body["firstId"], body["lastId"]) == ((ids[0], ids[-1]) if ids else (None, None))
    return {"ids": ids, **body}


@every_list
def test_pages_show_each_row_once_while_rows_are_added(api: Api, alice: Caller, hers: Belongings, one: List) -> None:
    mine = hers.ids[one.own]
    for number in range(ROWS):
        add(one, mine, age_seconds=1000 * (number // 4))  # only a few distinct ages, so that ids decide
    expected = list(one.model._default_manager.order_by("-created_at", "-pk").values_list("pk", flat=True))
    seen, query = [], f"?limit={PAGE}"
    for _ in range(ROWS):
        answer = page(api, alice, one, query)
        assert len(answer["ids"]) <= PAGE
        seen += answer["ids"]
        if not answer["hasMore"]:
            break
        add(one, mine, age_seconds=-3600)
        query = f"?limit={PAGE}&after={answer['lastId']}"
    assert seen == expected
    assert page(api, alice, one, f"?after={seen[-1]}") == {
        "ids": [],
        "data": [],
        "hasMore": False,
        "firstId": None,
        "lastId": None,
    }


@every_list
def test_a_page_that_is_just_full_is_the_last(api: Api, alice: Caller, hers: Belongings, one: List) -> None:
    add(one, hers.ids[one.own], age_seconds=1)
    assert [page(api, alice, one, f"?limit={limit}")["hasMore"] for limit in (1, 2)] == [True, False]


HOSTILE = ("", "unknown", "x" * 8000, "%00", "a%00b", "%ED%A0%80", "%F0%9F%98%80", "'--", "%25", "a&after=b")


@every_list
def test_a_cursor_of_nothing_is_refused(client: Client, api: Api, alice: Caller, hers: Belongings, one: List) -> None:
    mine = hers.ids[one.own]
    gone = add(one, mine, age_seconds=1)
    one.model._default_manager.filter(pk=gone).delete()
    others = [value for name, value in hers.ids.items() if name != one.own]
    for after in (*HOSTILE, *others, gone, mine + "x", mine[:-1], mine.upper(), f"{mine}&after={mine}"):
        answer = client.get(f"{one.path}?after={after}", headers=alice.headers("GET", one.path))
        error = answer.json()["error"]
        assert (answer.status_code, error["code"]) == (400, "invalid_request"), after[:50]
        assert error["param"] == "after" or "%00" in after  # control characters are refused in all parameters


@every_list
def test_a_strangers_cursor_is_an_unknown_one(api: Api, alice: Caller, hers: Belongings, one: List) -> None:
    mallory = make_caller(*SCOPES, name="mallory")
    theirs = add(one, belongings(mallory.account.did).ids[one.own], age_seconds=100)
    assert theirs in page(api, mallory, one, "")["ids"]
    answers = [api(alice, "GET", f"{one.path}?after={after}") for after in (theirs, "unknown")]
    assert [(status, {**body["error"], "request_id": ""}) for status, body in answers] == [
        (400, {**answers[1][1]["error"], "request_id": ""})
    ] * 2


@every_list
def test_a_limit_is_1_to_100(api: Api, alice: Caller, hers: Belongings, one: List) -> None:
    for limit in ("0", "101", "-1", "x", "", "1.0", "1&limit=2"):
        status, body = api(alice, "GET", f"{one.path}?limit={limit}")
        assert (status, body["error"]["code"], body["error"]["param"]) == (400, "invalid_request", "limit")
