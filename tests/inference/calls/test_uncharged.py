"""Calls that hold no money are limited for each account: refused ones, repeated ones, and counts of tokens."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pytest_django import Settings

from accounts.models import ProofReplay
from gateway.core.runtime import process_limits
from tests.support.stage import MESSAGE, Caller, Stage, chat, message

LIMIT = 3
COUNT = f"{MESSAGE}/count_tokens"


@pytest.fixture(autouse=True)
def three_a_minute(settings: Settings) -> Iterator[None]:
    process_limits.forget()
    settings.UNCHARGED_CALLS_PER_ACCOUNT_MINUTE = LIMIT
    yield
    process_limits.forget()


@pytest.fixture
def alias(stage: Stage) -> str:
    return stage.model(max_output_tokens=20, context_tokens=3000)


def refused_before_the_ledger(caller: Caller, alias: str) -> Any:
    return caller.post({"model": "no-such-model", "messages": []})


def refused_by_the_ledger(caller: Caller, alias: str) -> Any:
    return caller.post(chat(alias), max_cost=1)


def key_of_another_body(caller: Caller, alias: str) -> Any:
    return caller.post(chat(alias, user="another"), key="first")


def replayed(caller: Caller, alias: str) -> Any:
    return caller.post(chat(alias), key="first")


def counted(caller: Caller, alias: str) -> Any:
    return caller.post(message(alias), path=COUNT, key=None, max_cost=None)


def picture_of_a_private_address(caller: Caller, alias: str) -> Any:
    picture = {"type": "image_url", "image_url": {"url": "https://127.0.0.1/picture.png"}}
    return caller.post(chat(alias, messages=[{"role": "user", "content": [picture]}]))


WAYS: dict[Callable[[Caller, str], Any], int] = {
    refused_before_the_ledger: 404,
    refused_by_the_ledger: 402,
    key_of_another_body: 422,
    replayed: 200,
    counted: 200,
    picture_of_a_private_address: 400,
}


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_the_one_too_many_is_refused_without_the_database(
    stage: Stage, alias: str, way: Callable[[Caller, str], Any]
) -> None:
    caller = stage.caller()
    assert caller.post(chat(alias), key="first").status_code == 200
    assert [way(caller, alias).status_code for _ in range(LIMIT)] == [WAYS[way]] * LIMIT
    wallet, calls, proofs = caller.wallet, len(caller.calls), ProofReplay.objects.count()
    answers = [way(caller, alias), caller.post(chat(alias))]
    assert (caller.wallet, len(caller.calls), ProofReplay.objects.count()) == (wallet, calls, proofs)
    for answer in answers:
        error, wait = answer.json()["error"], int(answer.headers["Retry-After"])
        assert (answer.status_code, error["code"], 1 <= wait <= 60) == (429, "rate_limited", True)
        assert error["details"] == {
            "scope": "account",
            "limit": "uncharged_calls_per_minute",
            "remaining": 0,
            "retryAfterSeconds": wait,
        }
        assert answer.headers["RateLimit-Policy"] == f'"account-uncharged-calls";q={LIMIT};w=60'
        assert answer.headers["RateLimit"] == f'"account-uncharged-calls";r=0;t={wait}'


def test_other_accounts_are_not_refused(stage: Stage, alias: str) -> None:
    caller, other = stage.caller(), stage.caller()
    assert [refused_by_the_ledger(caller, alias).status_code for _ in range(LIMIT + 1)] == [402] * LIMIT + [429]
    assert other.post(chat(alias)).status_code == 200


def test_a_call_that_is_charged_makes_up_for_one_that_was_not(stage: Stage, alias: str) -> None:
    caller = stage.caller()
    for _ in range(LIMIT):
        assert refused_by_the_ledger(caller, alias).status_code == 402
        assert refused_before_the_ledger(caller, alias).status_code == 404
        assert [caller.post(chat(alias)).status_code for _ in range(2)] == [200, 200]
    assert len(caller.calls) == 2 * LIMIT
