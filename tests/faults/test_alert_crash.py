"""Thresholds that many calls cross at once, over two processes of which one is killed: each is recorded exactly once."""

import signal
import sys

import pytest

from billing.operations import budgets
from billing.queries import audit
from billing.rules.budgets import Subject
from gateway.core.events.models import Event
from tests.factories.billing import Purse, price_version
from tests.factories.events import recorded, subscribe, types
from tests.faults.crossing import SESSION
from tests.support.concurrency import PATIENCE_SECONDS, eventually
from tests.support.database import connect, database_url
from tests.support.forked import Forked

pytestmark = pytest.mark.django_db(transaction=True)

USD = 1_000_000
OWNERS = 50
SESSIONS = "SELECT 1 FROM pg_stat_activity WHERE application_name = %s AND datname = current_database()"


def settle_at_once(lanes: dict[str, list[str]]) -> None:
    """Settle the calls of each lane in a process of its own, which ends at its point."""
    url = database_url()
    command = [sys.executable, "-m", "tests.faults.crossing", url]
    processes = {point: Forked([*command, point, *calls]) for point, calls in lanes.items()}
    for point, process in processes.items():
        assert process.wait(PATIENCE_SECONDS) == (0 if point == "never" else -signal.SIGKILL), point
    with connect(autocommit=True) as server:
        eventually(lambda: server.execute(SESSIONS, [SESSION]).fetchone() is None)


def arguments(calls: list[tuple[str, int]]) -> list[str]:
    return [part for usage_id, cost in calls for part in (usage_id, str(cost))]


@pytest.mark.parametrize("point", ["0:begun", "20:sent", "24:begun"])
def test_fifty_owners_cross_their_thresholds_once_each(point: str) -> None:
    """Both processes settle the same calls, from both ends, so that they meet; one is killed."""
    price_version()
    subscribe("studio", "usage.settled")
    purses = [Purse("organization", f"org_{number:02}").pay(USD + 5) for number in range(OWNERS)]
    for purse in purses:
        budgets.put(Subject(purse.owner), limit_microusd=USD)
    calls = [(purse.call(USD, product="studio"), USD * 9 // 10) for purse in purses]
    settle_at_once({"never": arguments(calls), point: arguments(calls[::-1])})
    left = USD + 5 - USD * 9 // 10
    for purse in purses:
        assert types(purse.key) == ["wallet.credited", "budget.threshold", "usage.settled", "wallet.low"]
        data = {"orgId": purse.key, "availableMicrousd": left, "thresholdMicrousd": USD}
        assert recorded(purse.key)[-1] == ("wallet.low", data)
    assert sorted(Event.objects.values_list("owner_key", "sequence")) == [
        (purse.key, number) for purse in purses for number in (1, 2, 3, 4)
    ]
    assert audit.findings() == []


@pytest.mark.parametrize("point", ["3:sent", "12:begun"])
def test_fifty_calls_of_one_wallet_cross_each_of_its_thresholds_once(point: str) -> None:
    price_version()
    purse = Purse("organization", "org_acme").pay(USD + 24)
    budgets.put(Subject(purse.owner), limit_microusd=USD + 24)
    calls = [(purse.call(1), 1) for _ in range(49)]
    calls.insert(25, (purse.call(USD - 25), USD - 25))
    settle_at_once({"never": arguments(calls), point: arguments(calls[::-1])})
    assert types(purse.key, "wallet") == ["wallet.credited", "wallet.low", "wallet.empty"]
    percents = [data["percent"] for _, data in recorded(purse.key, "budget")]
    assert percents == [80, 100]
    assert audit.findings() == []
