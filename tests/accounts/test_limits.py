"""Rate limits, counted across processes."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.http import HttpRequest
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Limit, ProofReplay
from accounts.operations import limits
from accounts.operations.keyring import keyring
from gateway.core.contract.errors import RateLimited
from gateway.core.contract.route_limits import RouteLimit
from gateway.core.http.addresses import client_network
from tests.factories.accounts import Caller, make_account, make_caller
from tests.factories.proofs import Signer
from tests.support.concurrency import at_once, count

pytestmark = pytest.mark.django_db

TRIES = RouteLimit("account-tries", "TRIES", seconds=60)


@pytest.fixture(autouse=True)
def three_tries(settings: Settings) -> None:
    settings.TRIES = 3


def test_the_one_too_many_is_refused_until_the_window_ends() -> None:
    now = timezone.now()
    for _ in range(3):
        limits.take(TRIES, "alice", now=now)
    with pytest.raises(RateLimited) as refused:
        limits.take(TRIES, "alice", now=now + timedelta(seconds=4))
    assert refused.value.headers["Retry-After"] == "56"
    limits.take(TRIES, "alice", now=now + timedelta(seconds=60))


def test_a_window_that_a_wrong_clock_wrote_locks_nobody_out() -> None:
    now = timezone.now()
    for _ in range(3):
        limits.take(TRIES, "alice", now=now + timedelta(hours=1))
    left = limits.take(TRIES, "alice", now=now)
    assert (left.remaining, left.reset_seconds) == (2, 60)


def test_a_clock_that_is_a_little_behind_gives_no_second_burst() -> None:
    now = timezone.now()
    for _ in range(3):
        limits.take(TRIES, "alice", now=now)
    with pytest.raises(RateLimited):
        limits.take(TRIES, "alice", now=now - timedelta(seconds=30))


def test_what_is_given_back_can_be_used_again() -> None:
    now = timezone.now()
    assert [limits.take(TRIES, "alice", now=now).remaining for _ in range(3)] == [2, 1, 0]
    limits.give_back(TRIES, "alice", now=now)
    assert limits.take(TRIES, "alice", now=now).remaining == 0
    with pytest.raises(RateLimited):
        limits.take(TRIES, "alice", now=now)


def test_others_and_other_things_are_counted_apart() -> None:
    now = timezone.now()
    for _ in range(3):
        limits.take(TRIES, "alice", now=now)
    limits.take(TRIES, "bob", now=now)
    limits.take(RouteLimit("account-other-tries", "TRIES"), "alice", now=now)


def test_refusals_write_nothing_and_ended_windows_are_purged() -> None:
    now = timezone.now()
    for _ in range(3):
        limits.take(TRIES, "alice", now=now)
    for _ in range(5):
        with pytest.raises(RateLimited):
            limits.take(TRIES, "alice", now=now)
    assert Limit.objects.get().used == 3
    assert limits.purge_ended(now=now + timedelta(seconds=59)) == 0
    assert limits.purge_ended(now=now + timedelta(seconds=60)) == 1


def test_the_table_is_unlogged() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT relpersistence FROM pg_class WHERE relname = 'accounts_limit'")
        assert cursor.fetchone() in (("u",), (b"u",))


@pytest.mark.django_db(transaction=True)
def test_connections_at_once_share_one_count() -> None:
    now = timezone.now()
    results = at_once(*[lambda: limits.take(TRIES, "alice", now=now)] * 8)
    assert count(results, "rate_limited") == 5


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
        ("", None),
        ("unix:", None),
    ],
)
def test_an_ipv6_client_is_counted_by_its_network(address: str, network: str | None) -> None:
    request = HttpRequest()
    request.META["REMOTE_ADDR"] = address
    assert client_network(request) == network


def refresh(client: Client, signer: Signer) -> Any:
    path = "/v1/public/device/token"
    body = {"grant_type": "refresh_token", "refresh_token": "none"}
    return client.post(path, body, content_type="application/json", headers={"DPoP": signer.proof("POST", path)})


def test_keys_that_anybody_makes_fill_no_table(client: Client, settings: Settings) -> None:
    keyring.forget()
    settings.TOKEN_PROOFS_PER_ADDRESS_MINUTE = 5
    answers = [refresh(client, Signer()) for _ in range(8)]
    assert [answer.json()["error"] for answer in answers] == ["invalid_grant"] * 5 + ["rate_limited"] * 3
    assert answers[-1].status_code == 429
    assert 1 <= int(answers[-1]["Retry-After"]) <= 60
    assert ProofReplay.objects.count() == 5


def test_token_requests_without_a_proof_count_too(client: Client, settings: Settings) -> None:
    keyring.forget()
    settings.TOKEN_PROOFS_PER_ADDRESS_MINUTE = 2
    body = {"assertion": "none", "dpop_jwk": Signer().jwk}
    answers = [client.post("/v1/auth/token/exchange", body, content_type="application/json") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [400, 400, 429]
    refused, wait = answers[2].json(), int(answers[2]["Retry-After"])
    assert (refused["error"], refused["error_description"]) == ("rate_limited", "Too many requests.")
    assert refused["details"] == {
        "scope": "address",
        "limit": "token_requests_per_minute",
        "remaining": 0,
        "retryAfterSeconds": wait,
    }
    assert [answer["RateLimit"].partition(";t=")[0] for answer in answers] == [
        f'"address-token-requests";r={left}' for left in (1, 0, 0)
    ]
    elsewhere = client.post("/v1/auth/token/exchange", body, content_type="application/json", REMOTE_ADDR="203.0.113.9")
    assert elsewhere.status_code == 400


def test_answers_to_token_requests_state_both_limits(client: Client) -> None:
    keyring.forget()
    answer = refresh(client, Signer())
    assert answer["RateLimit-Policy"] == '"address-token-requests";q=6000;w=60, "key-token-requests";q=360;w=60'
    assert answer["RateLimit"] == '"address-token-requests";r=5999;t=60, "key-token-requests";r=359;t=60'


def wallet(client: Client, caller: Caller) -> Any:
    return client.get("/v1/wallet", headers=caller.headers("GET", "/v1/wallet"))


def test_requests_of_one_account_fill_no_table_whatever_key_signs_them(client: Client, settings: Settings) -> None:
    settings.MANAGEMENT_REQUESTS_PER_ACCOUNT_MINUTE = 3
    alice = make_account("alice")
    answers = [wallet(client, Caller(alice, ("wallet:read",))) for _ in range(6)]
    assert [answer.status_code for answer in answers] == [200] * 3 + [429] * 3
    error, wait = answers[-1].json()["error"], int(answers[-1]["Retry-After"])
    assert (error["code"], 1 <= wait <= 60) == ("rate_limited", True)
    assert error["details"] == {
        "scope": "account",
        "limit": "management_requests_per_minute",
        "remaining": 0,
        "retryAfterSeconds": wait,
    }
    assert {answer["RateLimit-Policy"] for answer in answers} == {'"account-management-requests";q=3;w=60'}
    assert [answer["RateLimit"].partition(";t=")[0] for answer in answers] == [
        f'"account-management-requests";r={left}' for left in (2, 1, 0, 0, 0, 0)
    ]
    assert ProofReplay.objects.count() == 3
    assert wallet(client, make_caller("wallet:read", name="bob")).status_code == 200


def test_a_request_within_the_limit_takes_one_statement_to_admit(client: Client) -> None:
    caller = make_caller("wallet:read")
    assert wallet(client, caller).status_code == 200  # the keys are known from now on
    with CaptureQueriesContext(connection) as queries:
        assert wallet(client, caller).status_code == 200
    assert sum("accounts_limit" in query["sql"] or "accounts_admit" in query["sql"] for query in queries) == 1


@pytest.mark.django_db(transaction=True)
def test_requests_at_once_store_no_more_proofs_than_the_limit(settings: Settings) -> None:
    settings.MANAGEMENT_REQUESTS_PER_ACCOUNT_MINUTE = 3
    caller = make_caller("wallet:read")
    answers = at_once(*[lambda: wallet(Client(), caller).status_code] * 8)
    assert sorted(answers) == [200] * 3 + [429] * 5
    assert ProofReplay.objects.count() == 3


def test_one_key_has_a_limit_of_its_own(client: Client, settings: Settings) -> None:
    keyring.forget()
    settings.TOKEN_PROOFS_PER_KEY_MINUTE = 3
    signer = Signer()
    assert [refresh(client, signer).status_code for _ in range(4)] == [400, 400, 400, 429]
    assert refresh(client, Signer()).status_code == 400
