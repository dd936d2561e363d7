"""Two server processes with real sockets allow together what a limit that is counted in the database allows."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from accounts.models import ProofReplay
from tests.factories.accounts import Caller, make_account
from tests.factories.proofs import Signer
from tests.support.concurrency import at_once
from tests.support.processes import by_turns, send, two_processes
from tests.support.stage_fixtures import db  # noqa: F401

LIMITS = {"MANAGEMENT_REQUESTS_PER_ACCOUNT_MINUTE": "10", "INVITATION_GUESSES_PER_ACCOUNT_10_MINUTES": "4"}


@pytest.fixture(scope="module")
def origins(django_db_setup: None, django_db_blocker: Any) -> Iterator[list[str]]:
    with django_db_blocker.unblock(), two_processes(**LIMITS) as running:
        yield running


def outcomes(answers: list[httpx.Response]) -> Counter[int]:
    return Counter(answer.status_code for answer in answers)


def test_fifty_requests_at_once_are_exactly_as_many_as_the_limit(origins: list[str]) -> None:
    account = make_account("swarm")
    callers = [Caller(account, ("wallet:read",), Signer()) for _ in range(50)]
    before = ProofReplay.objects.count()

    def look(origin: str, caller: Caller) -> httpx.Response:
        return send(caller, origin, "GET", "/v1/wallet")

    answers = at_once(*by_turns(origins, look, callers))
    assert outcomes(answers) == {200: 10, 429: 40}
    assert ProofReplay.objects.count() == before + 10
    left = sorted(answer.headers["RateLimit"].partition(";t=")[0] for answer in answers if answer.is_success)
    assert left == [f'"account-management-requests";r={number}' for number in range(10)]


def test_guesses_at_once_are_no_more_guesses(origins: list[str]) -> None:
    guesser = Caller(make_account("guesser"), ("orgs:manage",))

    def guess(origin: str, number: int) -> httpx.Response:
        return send(guesser, origin, "POST", "/v1/org-invitations/accept", {"token": f"{number:043}"})

    assert outcomes(at_once(*by_turns(origins, guess, range(8)))) == {404: 4, 429: 4}
