"""A receipt states the charge in the ledger, or no amount, even if an operator decided on the call meanwhile."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import orjson
import pytest

from billing.operations import reviews
from inference.metering.checkpoints import Checkpoints
from tests.factories.billing import review
from tests.support.concurrency import eventually
from tests.support.stage import CHAT, MESSAGE, Caller, Stage, chat, message

BODIES = {CHAT: chat, MESSAGE: message}
BALANCE = 5_000
CHARGED = 3


def charge(usage_id: str) -> bool:
    return reviews.charge(usage_id, cost_microusd=CHARGED)


# An operator's decision while the call runs, and the amount that the receipt may then state.
DECISIONS: list[Any] = [
    pytest.param(charge, CHARGED, id="charged"),
    pytest.param(reviews.release, None, id="released"),
    pytest.param(lambda usage_id: True, None, id="left in review and settled by the process"),
]


def decide(caller: Caller, decision: Callable[[str], bool]) -> None:
    """Decide on a call as soon as it is held."""
    eventually(lambda: caller.calls)
    call = caller.only_call.id
    assert review(call, "deadline_passed")
    assert decision(call)


def charged_by_the_ledger(caller: Caller) -> int | None:
    amount: int | None = caller.only_call.charge_microusd
    return amount


@pytest.mark.parametrize(("decision", "known_charge"), DECISIONS)
@pytest.mark.parametrize("path", BODIES)
def test_a_plain_answer_states_the_ledger_s_amount(
    stage: Stage, path: str, decision: Any, known_charge: int | None
) -> None:
    alias, caller = stage.model(max_output_tokens=20), stage.caller(balance=BALANCE)
    with ThreadPoolExecutor() as threads, stage.upstream.holding():
        pending = threads.submit(caller.post, BODIES[path](alias), path=path)
        decide(caller, decision)
    answer = pending.result()
    assert answer.status_code == 200
    stated = answer.headers.get("x-service-charge-microusd")
    expected = charged_by_the_ledger(caller)
    assert (None if stated is None else int(stated)) == expected
    if known_charge is not None:
        assert expected == known_charge
    assert caller.wallet == {"balance": BALANCE - (expected or 0), "held": 0, "debt": 0}


@pytest.mark.parametrize(("decision", "known_charge"), DECISIONS)
@pytest.mark.parametrize("path", BODIES)
def test_a_stream_states_the_ledger_s_amount(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, path: str, decision: Any, known_charge: int | None
) -> None:
    # A check-in after the decision would stop the stream.
    monkeypatch.setattr(Checkpoints, "begin", lambda checkpoints: None)
    alias, caller = stage.model("small-1?tokens=10", max_output_tokens=20), stage.caller(balance=BALANCE)
    with stage.upstream.holding(), caller.stream(BODIES[path](alias), path=path) as answer:
        decide(caller, decision)
        stage.upstream.release()
        lines = [line for line in answer.iter_lines() if line]
    receipt = orjson.loads(lines[-1].removeprefix(": service "))
    expected = charged_by_the_ledger(caller)
    assert receipt == {"usage_id": caller.only_call.id, "charge_microusd": expected}
    if known_charge is not None:
        assert expected == known_charge
    assert caller.wallet == {"balance": BALANCE - (expected or 0), "held": 0, "debt": 0}
