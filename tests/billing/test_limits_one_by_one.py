"""Rate limits of calls that are opened in one statement: each call gets the answer that it gets alone, at a clock that stands still."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from django.db import connection, transaction

from billing.models import Call, LimitMeter, LimitUse
from billing.rules.limits import Applied
from gateway.core.contract.ids import new_id
from gateway.core.database import Element
from tests.factories import batches
from tests.factories.accounts import make_account
from tests.factories.billing import Purse, price_version
from tests.factories.limits import applied, argument, element
from tests.factories.organizations import Team

pytestmark = pytest.mark.django_db

ROUNDS = 8
NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
# Functions of the path's first schema hide those of PostgreSQL.
STILL = """
CREATE SCHEMA still;
CREATE FUNCTION still.clock_timestamp() RETURNS timestamptz LANGUAGE sql STABLE AS
  $$SELECT current_setting('still.at')::timestamptz$$;
SET LOCAL search_path = still, public, pg_catalog
"""
CLOSE = "SELECT answer->>'outcome' FROM billing_close_calls(%s::json, NULL, true)"
QUOTAS = [(3, None, None), (7, 50, None), (None, 90, 2), (5, 40, 3), (None, None, 4), (100, 1000, 100)]
STOPS: list[dict[str, Any]] = [
    {"is_trial": True},
    {"stop_before": "idempotency"},
    {"stop_before": "access"},
    {"stop_before": "hold"},
]


@pytest.fixture
def still() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute(STILL)
        yield
        cursor.execute("SET LOCAL search_path = public")


class Round:
    """Batches of random calls, of which some are charged after each; the same whenever it is run."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.seed = seed
        self.payers = [
            Purse(key=make_account(f"payer{at}").did).pay(amount) for at, amount in enumerate((10_000, 10_000, 250))
        ]
        self.team = Team()
        Purse("organization", self.team.id).pay(10_000)
        self.quotas = {
            name: self.random.choice(QUOTAS) for name in ("account", "organization", "member", "app", "fast", "slow")
        }
        self.scopes = {name for name in self.quotas if self.random.random() < 0.7}
        self.batches = [[self.call() for _ in range(self.random.randint(1, 12))] for _ in range(4)]

    def call(self) -> Element[Any]:
        """Build a call of a person or a member under some limits, in either form; one in four is not to be held."""
        model = self.random.choice(["fast", "slow"])
        if self.random.random() < 0.4:
            owner, did = ("organization", self.team.id), self.random.choice([self.team.owner.did, self.payers[0].key])
            limits = [self.limit("organization", self.team.id), self.limit("member", "mem_before")]
        else:
            payer = self.random.choice(self.payers)
            owner, did, limits = payer.owner, payer.key, [self.limit("account", payer.key)]
        limits = [
            each for each in (*limits, self.limit("client", "app"), self.limit("alias", model)) if self.applies(each)
        ]
        return batches.opening(
            owner=owner,
            did=did,
            hold=100,
            usage_id=new_id("use"),
            price_version=price_version(),
            client_id="app",
            model=model,
            limits=self.random.choice([element, argument])(*limits) if limits else None,
            **(self.random.choice(STOPS) if self.random.random() < 0.25 else {}),
        )

    def applies(self, limit: Applied) -> bool:
        """Return whether there is such a limit in this round: what calls at once began under is the same for all of a subject."""
        return bool(self.scopes & {limit.scope.value, limit.subject})

    def limit(self, scope: str, subject: str) -> Applied:
        """Build a limit, which one call in ten knows with other quotas."""
        usual = self.quotas[scope if scope in self.quotas else subject]
        return applied(scope, subject, *(self.random.choice(QUOTAS) if self.random.random() < 0.1 else usual))

    def run(self, *, size: int) -> list[Any]:
        """Run all batches in statements of so many calls; return each answer, and what is left in the tables."""
        chance = random.Random(self.seed)
        found: list[Any] = []
        for number, batch in enumerate(self.batches):
            stand_at(NOW + timedelta(seconds=7 * number))
            answers = [answer for at in range(0, len(batch), size) for answer in answered(batch[at : at + size])]
            found += [answer | {"levels": without_ids(answer.get("levels"))} for answer in answers]
            held = [answer["usage_id"] for answer in answers if answer.get("outcome") == "reserved"]
            charge([usage_id for usage_id in held if chance.random() < 0.5])
            found.append(meters())
        found.append(sorted(Call.objects.values_list("id", "state", "token_scopes", "is_concurrency_limited"), key=str))
        return found


def stand_at(time: datetime) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('still.at', %s, true)", [time.isoformat()])


def answered(calls: list[Element[Any]]) -> list[dict[str, Any]]:
    return [orjson.loads(row[0]) for row in batches.statement(*calls).rows()]


def without_ids(levels: list[int | None] | None) -> list[int | None] | None:
    return levels and [level for at, level in enumerate(levels) if at % 4]


def charge(calls: list[str]) -> None:
    closing = {
        "action": "settle",
        "cost": 1,
        "basis": "upstream",
        "quantities": {"input_tokens": 20, "output_tokens": 9},
    }
    with connection.cursor() as cursor:
        for usage_id in calls:
            cursor.execute(CLOSE, [orjson.dumps([closing | {"usage_id": usage_id}]).decode()])


def meters() -> list[Any]:
    columns = ("scope", "subject", "requests_level", "requests_at", "tokens_level", "tokens_at", "tokens_quota")
    uses = LimitUse.objects.values_list("scope", "subject", "tokens", "used_at")
    return [*LimitMeter.objects.order_by("scope", "subject").values_list(*columns), *sorted(uses)]


@pytest.mark.usefixtures("still")
@pytest.mark.parametrize("seed", range(ROUNDS))
def test_random_calls(seed: int) -> None:
    stand_at(NOW)
    once = Round(seed)
    found = []
    for size in (1, 12):
        mark = transaction.savepoint()
        found.append(once.run(size=size))
        transaction.savepoint_rollback(mark)
    assert found[0] == found[1]
