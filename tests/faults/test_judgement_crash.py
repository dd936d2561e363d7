"""`kill -9` while a judgement falls back: charged once, at the price of the backend that answered, or in review with its hold."""

import signal
from pathlib import Path
from typing import Any

import httpx
import pytest

from billing.models import Takeover, UsageRecord
from billing.operations import reviews
from billing.queries import audit
from tests.faults.test_call_crash import journals, recover_later  # noqa: F401
from tests.judgement.bench import BALANCE, Bench, ask, post
from tests.judgement.conftest import bench, upstream  # noqa: F401
from tests.support.processes import gateway_process
from tests.support.stage import Caller

KEY = "one"
EXPENSIVE = 1624  # 812 tokens at two micro-USD, the price of the fallback backend
# Moment, number of backends called, the state after recovery.
MOMENTS = [
    ("held", 0, "released"),
    ("about to send", 0, "released"),
    ("sending", 0, "review"),
    ("about to fall back", 1, "review"),
    ("sending to the fallback", 1, "review"),
    ("answered", 2, "review"),
    ("before the charge", 2, "review"),
    ("about to charge", 2, "settled"),
    ("charged", 2, "settled"),
]


def pair(bench: Bench) -> tuple[str, str]:  # noqa: F811
    """Create an overloaded backend, and a more expensive one that takes its calls over."""
    source, target = bench.backend("overloaded"), bench.backend("judge-2", price={"input_token": "2"})
    bench.fall_back(source, target)
    return source, target


def ask_and_die(bench: Bench, journals: Path, moment: str) -> tuple[Caller, str, str]:  # noqa: F811
    """Call a server that dies at a moment, and run the jobs."""
    (source, target), caller = pair(bench), bench.caller()
    home = caller.origin
    with gateway_process(MOMENT=moment, CALL_JOURNAL_DIR=str(journals)) as (origin, server):
        caller.origin = origin
        with pytest.raises((httpx.TransportError, httpx.StreamError)):
            post(caller, ask(model=source, allow_fallback=True), key=KEY, timeout=60)
        assert server.wait(timeout=60) == -signal.SIGKILL
    recover_later()
    caller.origin = home
    return caller, source, target


def assert_charged_once(caller: Caller, target: str) -> None:
    call = caller.only_call
    assert (call.state, call.charge_microusd) == ("settled", EXPENSIVE)
    assert UsageRecord.objects.filter(call=call).count() == 1
    assert Takeover.objects.get(call_id=call.id).model == target
    assert caller.wallet == {"balance": BALANCE - EXPENSIVE, "held": 0, "debt": 0}


@pytest.mark.parametrize(("moment", "models", "state"), MOMENTS, ids=[row[0] for row in MOMENTS])
def test_a_killed_fallback_is_charged_once_or_waits_with_its_hold(
    bench: Bench,  # noqa: F811
    journals: Path,  # noqa: F811
    moment: str,
    models: int,
    state: str,
) -> None:
    caller, source, target = ask_and_die(bench, journals, moment)
    call = caller.only_call
    assert call.state == state
    assert len({entry.model for entry in bench.upstream.ledger.entries}) == models
    assert audit.findings() == []
    if state == "settled":
        assert_charged_once(caller, target)
    else:
        held = call.hold_microusd if state == "review" else 0
        assert caller.wallet == {"balance": BALANCE, "held": held, "debt": 0}
    assert_the_same_request_is_not_charged_again(caller, source, target, state)


def assert_the_same_request_is_not_charged_again(caller: Caller, source: str, target: str, state: str) -> None:
    again = post(caller, ask(model=source, allow_fallback=True), key=KEY)
    if state == "released":
        assert again.headers["x-service-charge-microusd"] == str(EXPENSIVE)
        assert caller.wallet == {"balance": BALANCE - EXPENSIVE, "held": 0, "debt": 0}
    elif state == "review":
        assert (again.status_code, again.json()["error"]["code"]) == (409, "idempotency_in_progress")
    else:
        assert_charged_once(caller, target)


def test_the_operator_charges_a_fallback_with_an_unknown_outcome(
    bench: Bench,  # noqa: F811
    journals: Path,  # noqa: F811
) -> None:
    caller, _, _ = ask_and_die(bench, journals, "answered")
    call: Any = caller.only_call
    assert call.review_reason == "process_died"
    assert call.hold_microusd >= EXPENSIVE, "the hold covers the more expensive of the two"
    assert reviews.charge(call.id, cost_microusd=EXPENSIVE)
    assert not reviews.charge(call.id, cost_microusd=EXPENSIVE)
    assert caller.wallet == {"balance": BALANCE - EXPENSIVE, "held": 0, "debt": 0}
    assert audit.findings() == []
