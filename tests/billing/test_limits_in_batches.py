"""Rate limits of calls that are opened or settled in one statement: they count as if they had come one by one."""

import json
from collections import Counter
from itertools import count
from typing import Any

import orjson
import pytest
from django.db import connection
from django.utils import timezone

from billing.models import LimitUse
from billing.rules.limits import UNIT, Applied
from gateway.core.contract.ids import new_id
from tests.factories import batches, payers
from tests.factories.accounts import make_account
from tests.factories.billing import Purse, price_version
from tests.factories.limits import admit, applied, element, meter
from tests.factories.payers import Payer

pytestmark = pytest.mark.django_db

_aliases = (f"alias-{number}" for number in count())


@pytest.fixture
def alias() -> str:
    return next(_aliases)


def purses(number: int) -> list[Purse]:
    return [Purse(key=make_account(f"payer{at}").did).pay(10_000) for at in range(number)]


def opened(payers: list[Purse], *limits: Applied) -> list[str]:
    """Open calls in one statement, and return their outcomes."""
    calls = [
        batches.opening(
            owner=payer.owner,
            did=payer.key,
            hold=100,
            usage_id=new_id("use"),
            price_version=price_version(),
            limits=element(*limits),
            client_id="app",
        )
        for payer in payers
    ]
    return [hold.outcome for hold in batches.run(*calls)]


def test_a_batch_of_one_wallet_admits_what_its_limit_leaves() -> None:
    [payer] = purses(1)
    limit = applied("account", payer.key, 10, 1000, 100)
    assert Counter(opened([payer] * 8, limit)) == {"reserved": 8}
    assert opened([payer] * 8, limit) == ["reserved"] * 2 + ["rate_limited"] * 6
    assert 9 * UNIT < meter("account", payer.key).requests_level <= 10 * UNIT
    assert meter("account", payer.key).tokens_quota == 1000


def test_a_batch_counts_its_own_calls_at_once() -> None:
    [payer] = purses(1)
    limit = applied("account", payer.key, concurrent=3)
    assert opened([payer] * 5, limit) == ["reserved"] * 3 + ["rate_limited"] * 2
    assert opened([payer], limit) == ["rate_limited"]
    assert opened([payer] * 3, applied("account", payer.key, concurrent=5)) == ["reserved"] * 2 + ["rate_limited"]


def test_limits_of_one_statement_may_differ(alias: str) -> None:
    """Processes read a changed limit at different times."""
    [payer] = purses(1)
    calls = [
        batches.opening(
            owner=payer.owner,
            did=payer.key,
            hold=100,
            usage_id=new_id("use"),
            price_version=price_version(),
            model=alias,
            limits=element(applied("alias", alias, 100, None, most)),
        )
        for most in (2, 2, 2, 4, 4, 4)
    ]
    outcomes = [hold.outcome for hold in batches.run(*calls)]
    assert outcomes == ["reserved", "reserved", "rate_limited", "reserved", "reserved", "rate_limited"]


def test_wallets_share_a_limit_in_a_batch(alias: str) -> None:
    limits = applied("client", "app", 1000), applied("alias", alias, 4)
    assert Counter(opened(purses(6), *limits)) == {"reserved": 4, "rate_limited": 2}
    assert 3 * UNIT < meter("alias", alias).requests_level <= 4 * UNIT
    assert 3 * UNIT < meter("client", "app").requests_level <= 4 * UNIT


def test_a_call_without_funds_takes_no_room_in_its_batch() -> None:
    [poor, rich] = purses(2)
    limit = applied("client", "app", 2)
    poor.call(9_950)
    assert Counter(opened([poor, rich, poor, rich], limit)) == {"reserved": 2, "insufficient_funds": 2}


STOPS: list[dict[str, Any]] = [
    {},
    {"is_trial": True},
    *({"stop_before": step} for step in ("idempotency", "access", "hold")),
]


@pytest.mark.parametrize("stop", STOPS, ids=str)
@pytest.mark.parametrize("size", [1, 3])
def test_an_organization_s_limits_are_stated_to_members_only(stop: dict[str, Any], size: int) -> None:
    """The stranger's token is one of a member who has left."""
    member, stranger = payers.member(), payers.account()
    member.purse.pay(10_000)
    limit = element(applied("organization", member.purse.key, 5), applied("member", "mem_before", None, None, 5))
    for did, is_told in ((stranger.did, False), (member.did, True)):
        call = Payer(did, member.purse)
        rows = batches.statement(*(call.opening(100, limits=limit, **stop) for _ in range(size))).rows()
        levels = [orjson.loads(answer).get("levels") for answer, _ in rows]
        assert [level is not None for level in levels] == [is_told] * size


CLOSE = "SELECT answer->>'outcome' FROM billing_close_calls(%s::json, NULL, true)"


@pytest.mark.parametrize("size", [6, 1], ids=["in one statement", "one by one"])
def test_settlements_count_the_tokens_of_each_call(alias: str, size: int) -> None:
    """The calls are of two accounts, one has no limits, and one used nothing."""
    alice, bob = purses(2)
    own, shared = [applied("account", payer.key, None, 1) for payer in (alice, bob)], applied("alias", alias, None, 1)
    admit(*own, shared, now=timezone.now())
    limits = [(own[0], shared), (own[0], shared), (own[0],), (own[1],), (), (own[1],)]
    calls = [
        payer.call(100, did=payer.key, model=alias, limits=element(*each) or None)
        for payer, each in zip([alice] * 3 + [bob] * 3, limits, strict=True)
    ]
    for at in range(0, 6, size):
        batch = list(zip(calls, (10, 20, 30, 40, 50, 0), strict=True))[at : at + size]
        assert closed(batch) == ["settled"] * size
    assert 59 * UNIT < meter("account", alice.key).tokens_level <= 60 * UNIT
    assert 39 * UNIT < meter("account", bob.key).tokens_level <= 40 * UNIT
    used = list(LimitUse.objects.filter(subject=alias).order_by("id").values_list("scope", "tokens"))
    assert used == ([("alias", 30)] if size == 6 else [("alias", 10), ("alias", 20)])


def closed(batch: list[tuple[str, int]]) -> list[str]:
    """Settle calls that used so many tokens, half of them output, in one statement; return the outcomes."""
    closings = [
        {
            "action": "settle",
            "usage_id": usage_id,
            "cost": 1,
            "basis": "upstream",
            "quantities": {"input_tokens": tokens // 2, "output_tokens": tokens // 2},
        }
        for usage_id, tokens in batch
    ]
    with connection.cursor() as cursor:
        cursor.execute(CLOSE, [json.dumps(closings)])
        return [outcome for (outcome,) in cursor.fetchall()]
