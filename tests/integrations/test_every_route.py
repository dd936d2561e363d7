"""All routes of the integrations: strangers, organizations' tokens, disabled integrations, and hostile bodies."""

import json
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from gateway.core.contract.errors import CATALOGUE
from organizations.models import Membership
from organizations.rules.roles import Role
from tests.contract.routes import MappedRoute
from tests.factories.accounts import Caller, make_caller
from tests.factories.organizations import Team, account
from tests.factories.proofs import Signer, mint_token
from tests.integrations.belongings import NAMES, NOBODYS, ROUTES, SCOPES, Belongings, belongings, switch_off, switch_on
from tests.integrations.hostile import spoiled

pytestmark = pytest.mark.django_db

every_route = pytest.mark.parametrize("route", ROUTES, ids=NAMES)
WITH_A_BODY = [route for route in ROUTES if NOBODYS.body(route.method, route.path) is not None]
ACCOUNT_KEY = "/v1/sync/account-key"


class Send:
    """Sends one request to a route. An exception in the gateway becomes the 500 that a caller would see."""

    def __init__(self, client: Client) -> None:
        client.raise_request_exception = False
        self._client = client

    def __call__(self, who: Caller | None, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        headers = who.headers(method, path) if who else {}
        answer = self._client.generic(method, path, content, content_type="application/json", headers=headers)
        return answer.status_code, answer.json()


@pytest.fixture
def send(client: Client) -> Send:
    switch_on()
    return Send(client)


@pytest.fixture
def alice() -> Caller:
    return make_caller(*SCOPES)


@pytest.fixture
def hers(alice: Caller) -> Belongings:
    return belongings(alice.account.did)


def of_organization(team: Team, name: str) -> Caller:
    signer, who = Signer(), account(name)
    token = mint_token(who.did, SCOPES, signer, org_id=team.id, membership_id=team[name].id)
    return Caller(who, SCOPES, signer, token)


def ask(send: Send, who: Caller | None, route: MappedRoute, of: Belongings) -> tuple[int, Any]:
    return send(who, route.method, of.path(route.path), of.body(route.method, route.path))


def code_of(answer: tuple[int, Any]) -> tuple[int, str]:
    return answer[0], answer[1]["error"]["code"]


@every_route
def test_the_owner_is_answered(send: Send, alice: Caller, hers: Belongings, route: MappedRoute) -> None:
    status, body = ask(send, alice, route, hers)
    assert status in (200, 201, 202), body
    assert body.get("data") != []


@every_route
def test_a_stranger_finds_nothing_and_changes_nothing(
    send: Send, alice: Caller, hers: Belongings, route: MappedRoute
) -> None:
    mallory = make_caller(*SCOPES, name="mallory")
    before = _seen(send, alice, hers)
    answer = ask(send, mallory, route, hers)
    named = hers.path(route.path) != route.path or set(hers.ids.values()) & _texts(hers.body(route.method, route.path))
    if named:
        unknown = ask(send, mallory, route, NOBODYS)
        assert code_of(answer) == (404, "not_found")
        assert {**answer[1]["error"], "request_id": ""} == {**unknown[1]["error"], "request_id": ""}
    else:
        assert answer[0] in (200, 201)
        assert not any(value in json.dumps(answer[1]) for value in hers.ids.values())
    assert _seen(send, alice, hers) == before


@every_route
def test_members_of_an_organization_find_the_same_and_a_person_does_not(send: Send, route: MappedRoute) -> None:
    team = Team()
    team.join("adam", Role.ADMIN)
    ours = belongings(team.id, "organization", requested_by=account("adam").did)
    people = [of_organization(team, "olivia"), of_organization(team, "adam")]
    if route.path == ACCOUNT_KEY:
        assert [code_of(ask(send, who, route, ours)) for who in people] == [(403, "forbidden")] * 2
        return
    if route.method == "GET":
        first, second = (ask(send, who, route, ours) for who in people)
        assert first == second
        assert first[0] == 200
    person = Caller(team.owner, SCOPES)
    status, body = ask(send, person, route, ours)
    assert not any(value in json.dumps(body) for value in ours.ids.values())
    assert status == 404 or (route.path.count("<") == 0 and status in (200, 201))


@every_route
def test_a_token_that_is_over_gets_nothing(send: Send, alice: Caller, hers: Belongings, route: MappedRoute) -> None:
    alice.account.is_active = False
    alice.account.save()
    assert code_of(ask(send, alice, route, hers)) == (401, "invalid_token")
    team = Team()
    team.join("mia", Role.ADMIN)
    mia = of_organization(team, "mia")
    Membership.objects.filter(id=team["mia"].id).update(removed_at=timezone.now())
    assert code_of(ask(send, mia, route, hers)) == (403, "not_member")


@every_route
def test_switched_off_it_is_unavailable(send: Send, alice: Caller, hers: Belongings, route: MappedRoute) -> None:
    switch_off()
    for body in (hers.body(route.method, route.path), b"", b'{"a":', {"unknown": 1}):
        for path in (hers.path(route.path), NOBODYS.path(route.path)):
            assert code_of(send(alice, route.method, path, body)) == (503, "integration_unavailable")
    assert send(alice, "DELETE", hers.path(route.path))[0] == 405
    assert code_of(ask(send, None, route, hers)) == (401, "invalid_dpop_proof")
    assert code_of(ask(send, make_caller(name="bob"), route, hers)) == (403, "insufficient_scope")


UNNAMED = {"invalid_json", "request_too_large", "revision_conflict", "rate_limited", "idempotency_key_reused"}
BODIES = (b"", b"null", b"[]", b"\xff", b'{"a":1,"a":1}', b"{" * 70, b"[" * 100_000, b'{"a":1}' + b" " * 3_000_000)


@pytest.mark.parametrize("route", WITH_A_BODY, ids=lambda route: f"{route.method} {route.path}")
def test_hostile_json_is_refused_by_name(send: Send, alice: Caller, hers: Belongings, route: MappedRoute) -> None:
    path = hers.path(route.path)
    good = {"public_jwk": {"kty": "EC"}} if route.path == ACCOUNT_KEY else hers.body(route.method, route.path)
    for where, body in spoiled(good or {}):
        status, answer = send(alice, route.method, path, body)
        assert status < 500, (where, answer)
        if status >= 400:
            error = answer["error"]
            assert error["code"] in CATALOGUE, where
            assert error["code"] in UNNAMED or (error["param"] or "").partition(".")[0] == where, error
    for body in BODIES:
        status, answer = send(alice, route.method, path, body)
        assert status in (400, 413) or (route.path, body) == (ACCOUNT_KEY, b""), body[:20]
    _seen(send, alice, hers)


def _texts(body: dict[str, Any] | None) -> set[str]:
    values = [value for each in (body or {}).values() for value in (each if isinstance(each, list) else [each])]
    return {value for value in values if isinstance(value, str)}


def _seen(send: Send, who: Caller, theirs: Belongings) -> list[Any]:
    """Return all records that an owner can read."""
    answers = [ask(send, who, route, theirs) for route in ROUTES if route.method == "GET"]
    assert {status for status, _ in answers} == {200}
    return answers
