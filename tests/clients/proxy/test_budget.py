"""A budget holds exactly, however many calls are open, and whatever becomes of their answers."""

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from account_gateway_client.proxy import outcomes
from account_gateway_client.proxy.server import LocalProxy
from tests.clients.proxy.conftest import BODY, CHAT, MAXIMUM, StartProxy, tool_of
from tests.clients.proxy.held_stand import HeldStand
from tests.clients.stand import CHARGE
from tests.support.concurrency import eventually

CALLS, ROOM = 50, 10


def refused_by_budget(answer: httpx.Response) -> bool:
    return answer.status_code == 402 and answer.json()["error"]["code"] == "budget_exceeded"


@pytest.fixture(autouse=True)
def no_records_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep a call open for long that the gateway has no record of."""
    monkeypatch.setattr(outcomes, "NEVER_TAKEN_SECONDS", 1000.0)


def test_parallel_calls_count_by_their_maxima(start: StartProxy, stand: HeldStand) -> None:
    proxy = start(budget_microusd=ROOM * MAXIMUM)
    stand.hold()
    with tool_of(proxy) as tool, ThreadPoolExecutor(CALLS) as pool:
        answers = [pool.submit(tool.post, CHAT, json=BODY) for _ in range(CALLS)]
        eventually(lambda: (sum(answer.done() for answer in answers), stand.arrived) == (CALLS - ROOM, ROOM))
        refused = [answer.result() for answer in answers if answer.done()]
        stand.release()
        assert all(map(refused_by_budget, refused))
        assert sum(answer.result().status_code == 200 for answer in answers) == ROOM
        assert (proxy.spending.spent, proxy.spending.reserved) == (ROOM * CHARGE, 0)
        assert tool.post(CHAT, json=BODY).status_code == 200


def test_a_refusal_says_what_is_left(start: StartProxy) -> None:
    proxy = start(budget_microusd=MAXIMUM + CHARGE - 1)
    with tool_of(proxy) as tool:
        assert tool.post(CHAT, json=BODY).status_code == 200
        refused = tool.post(CHAT, json=BODY)
        assert refused_by_budget(refused)
        assert refused.json()["error"]["details"] == {
            "limitMicrousd": MAXIMUM + CHARGE - 1,
            "spentMicrousd": CHARGE,
            "openMicrousd": 0,
            "remainingMicrousd": MAXIMUM - 1,
            "requiredMicrousd": MAXIMUM,
        }
        smaller = {"x-service-max-cost-microusd": str(MAXIMUM - 1)}
        assert tool.post(CHAT, json=BODY, headers=smaller).status_code == 200


def test_the_budget_is_used_up_to_the_last_microusd(start: StartProxy, stand: HeldStand) -> None:
    proxy = start(budget_microusd=3 * CHARGE, max_cost_microusd=CHARGE)
    with tool_of(proxy) as tool:
        statuses = [tool.post(CHAT, json={**BODY, "stream": each % 2 == 1}).status_code for each in range(5)]
    assert statuses == [200, 200, 200, 402, 402]
    assert len(stand.served) == 3


def test_a_stream_that_was_left_counts_until_its_record_tells(start: StartProxy, stand: HeldStand) -> None:
    proxy = start(budget_microusd=MAXIMUM + CHARGE)
    with tool_of(proxy) as tool:
        with tool.stream("POST", CHAT, json={**BODY, "endless": True}) as answer:
            next(answer.iter_raw())
        stand.record("reconciling", 0)
        eventually(lambda: proxy.spending.awaiting() != {})
        assert refused_by_budget(tool.post(CHAT, json=BODY))
        stand.record("settled")
        eventually(lambda: (proxy.spending.spent, proxy.spending.reserved) == (CHARGE, 0))
        assert tool.post(CHAT, json=BODY).status_code == 200


@pytest.mark.parametrize(("status", "charge"), [("settled", CHARGE), ("released", 0)])
def test_an_error_behind_the_gateway_counts_until_its_record_tells(
    start: StartProxy, stand: HeldStand, status: str, charge: int
) -> None:
    proxy = start()
    stand.orders.refuse = [(502, "upstream_error")]
    with tool_of(proxy) as tool:
        tool.post(CHAT, json=BODY)
        assert proxy.spending.reserved == MAXIMUM
        stand.record(status, charge)
        eventually(lambda: proxy.spending.reserved == 0)
    assert proxy.spending.spent == charge


def test_a_refusal_costs_nothing(tool: httpx.Client, stand: HeldStand, proxy: LocalProxy) -> None:
    for status in (400, 402, 403, 404, 413, 422, 429):
        stand.orders.refuse = [(status, "x")]
        assert tool.post(CHAT, json=BODY).status_code == status
    assert (proxy.spending.spent, proxy.spending.reserved) == (0, 0)


def test_what_was_never_taken_is_free_in_the_end(
    proxy: LocalProxy, stand: HeldStand, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand.orders.lose_answers = 2
    with tool_of(proxy) as tool:
        assert tool.post(CHAT, json=BODY).status_code == 502
    assert proxy.spending.reserved == MAXIMUM
    monkeypatch.setattr(outcomes, "NEVER_TAKEN_SECONDS", 0.0)
    eventually(lambda: proxy.spending.reserved == 0)
    assert proxy.spending.spent == 0


def test_an_answer_paid_for_before_costs_nothing(start: StartProxy, stand: HeldStand) -> None:
    key = {"Idempotency-Key": "mine"}
    for expected in (CHARGE, 0):
        proxy = start()
        with tool_of(proxy) as tool:
            assert tool.post(CHAT, json=BODY, headers=key).status_code == 200
        assert (proxy.spending.spent, proxy.spending.calls) == (expected, bool(expected))


def test_parallel_attempts_of_one_call_share_its_maximum(start: StartProxy, stand: HeldStand) -> None:
    proxy = start(budget_microusd=MAXIMUM)
    stand.hold()
    key = {"Idempotency-Key": "mine"}
    with tool_of(proxy) as tool, ThreadPoolExecutor(2) as pool:
        answers = [pool.submit(tool.post, CHAT, json=BODY, headers=key) for _ in range(2)]
        eventually(lambda: stand.arrived == 2)
        assert proxy.spending.reserved == MAXIMUM
        stand.release()
        assert [answer.result().status_code for answer in answers] == [200, 200]
    assert (proxy.spending.spent, proxy.spending.reserved) == (CHARGE, 0)
