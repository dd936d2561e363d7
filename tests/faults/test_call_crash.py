"""`kill -9` at every moment between hold and answer: each call ends settled once, released, or in review with its hold."""

import signal
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.utils import timezone

from billing.models import Transfer, UsageRecord
from billing.operations import ledger, reviews
from billing.queries import audit
from inference.metering import recovery
from tests.support.concurrency import eventually
from tests.support.journals import journals_in
from tests.support.processes import gateway_process
from tests.support.stage import Caller, Stage, chat

BALANCE = 5_000

# Moment, whether a stream, the upstream's behaviour, the state after recovery, the answer to a retry.
MOMENTS = [
    ("before the hold", False, "small-1", None, 200),
    ("held", False, "small-1", "released", 200),
    ("before sending", False, "small-1", "released", 200),
    ("about to send", False, "small-1", "released", 200),
    ("sending", False, "small-1", "review", 409),
    ("answered", False, "small-1", "review", 409),
    ("answer rendered", False, "small-1", "review", 409),
    ("before the charge", False, "small-1", "review", 409),
    ("about to charge", False, "small-1", "settled", 422),
    ("charged", False, "small-1", "settled", "replay"),
    ("answered", False, "reject-parameter", "review", 409),
    ("before the release", False, "reject-parameter", "review", 409),
    ("about to release", False, "reject-parameter", "released", 400),
    ("before the review", False, "usage-missing", "review", 409),
    ("in review", False, "usage-missing", "review", 409),
    ("before opening a stream", True, "small-1", "released", 200),
    ("sending", True, "small-1", "review", 409),
    ("stream opened", True, "small-1", "review", 409),
    ("stream done", True, "small-1", "review", 409),
    ("about to charge", True, "small-1", "settled", 422),
    ("stream charged", True, "small-1", "settled", "replay"),
    ("stream broken", True, "cut-mid-stream", "review", 409),
]


def send_and_die(caller: Caller, body: Any, origin: Any) -> Any:
    """Send a request whose answer never arrives, or is incomplete."""
    caller.origin = origin
    try:
        answer = caller.post(body, key="one", timeout=60)
    except (httpx.TransportError, httpx.StreamError):
        return
    pytest.fail(f"the server lived: {answer.status_code} {answer.text}")


@pytest.fixture(autouse=True)
def journals(tmp_path: Path, settings: Any) -> Path:
    """Keep the journals of the test's servers in a separate folder."""
    settings.CALL_JOURNAL_DIR = tmp_path
    return tmp_path


def recover_later() -> None:
    """Run the jobs at a time before the calls' deadlines."""
    for minutes in (0, 1, 10):
        recovery.recover(now=timezone.now() + timedelta(minutes=minutes))
    assert journals_in(settings.CALL_JOURNAL_DIR) == []


def reap_later() -> None:
    """Run the jobs at a time after all deadlines."""
    while ledger.reap(limit=100, now=timezone.now() + timedelta(hours=2)).rows():
        pass


def assert_charged_once(caller: Caller, call: Any) -> Any:
    assert UsageRecord.objects.filter(call=call).count() == 1
    charged = Transfer.objects.filter(kind="charge", source=call.id)
    assert sum(transfer.amount_microusd for transfer in charged) == call.charge_microusd
    assert caller.wallet == {"balance": BALANCE - call.charge_microusd, "held": 0, "debt": 0}


@pytest.mark.parametrize(
    ("moment", "stream", "behaviour", "state", "retry"), MOMENTS, ids=[f"{row[0]} ({row[2]})" for row in MOMENTS]
)
def test_a_killed_call_is_charged_once_or_waits_with_its_hold(
    stage: Stage, journals: Path, moment: Any, stream: Any, behaviour: Any, state: Any, retry: Any
) -> None:
    alias, caller = stage.model(behaviour, max_output_tokens=20), stage.caller(balance=BALANCE)
    body, home = chat(alias, stream=stream), caller.origin
    with gateway_process(MOMENT=moment, CALL_JOURNAL_DIR=str(journals)) as (origin, server):
        send_and_die(caller, body, origin)
        assert server.wait(timeout=60) == -signal.SIGKILL
    recover_later()
    assert audit.findings() == []
    caller.origin = home
    again = caller.post(body, key="one")
    calls = caller.calls
    if state is None:
        assert [call.state for call in calls] == ["settled"]
        return
    first = calls[0]
    assert first.state == state
    if retry == "replay":
        assert again.headers["idempotent-replayed"] == "true"
        assert again.headers["x-service-usage-id"] == first.id
        assert_charged_once(caller, first)
    elif retry == 409:
        assert (again.status_code, again.json()["error"]["code"]) == (409, "idempotency_in_progress")
        assert caller.wallet == {"balance": BALANCE, "held": first.hold_microusd, "debt": 0}
    elif retry == 422:
        assert (again.status_code, again.json()["error"]["code"]) == (422, "idempotency_key_reused")
        assert_charged_once(caller, first)
    else:
        assert again.status_code == retry
        assert caller.wallet["held"] == 0
    assert len(calls) == (2 if state == "released" else 1)


def test_a_stream_killed_on_its_way_is_charged_by_its_last_checkpoint(stage: Stage, journals: Path) -> None:
    alias = stage.model("small-1?tokens=400&token_delay_ms=20", max_output_tokens=500)
    caller = stage.caller(balance=BALANCE)
    with gateway_process(CALL_JOURNAL_DIR=str(journals)) as (origin, server):
        caller.origin = origin
        with caller.stream(chat(alias), key="one") as answer:
            lines = answer.iter_lines()
            for _ in range(20):
                next(lines)
            server.send_signal(signal.SIGKILL)
            with pytest.raises(httpx.TransportError):
                list(lines)
    recover_later()
    call = caller.only_call
    assert (call.state, call.review_reason) == ("review", "process_died")
    assert call.deadline_at < timezone.now() + timedelta(seconds=125)
    assert 0 < call.evidence["charge_microusd"] <= call.hold_microusd
    reviews.reconcile(now=timezone.now())
    call = caller.only_call
    assert (call.state, call.charge_microusd) == ("settled", call.evidence["charge_microusd"])
    assert_charged_once(caller, call)
    assert audit.findings() == []


@pytest.mark.parametrize("with_journal", [True, False])
def test_a_killed_call_that_was_sent_is_left_to_the_operator(stage: Stage, journals: Path, with_journal: bool) -> None:
    alias, caller = stage.model(max_output_tokens=20), stage.caller(balance=BALANCE)
    with gateway_process(CALL_JOURNAL_DIR=str(journals)) as (origin, server):
        caller.origin = origin
        with ThreadPoolExecutor() as threads, stage.upstream.holding():
            pending = threads.submit(send_and_die, caller, chat(alias), origin)
            eventually(lambda: stage.upstream.ledger.entries)
            server.send_signal(signal.SIGKILL)
            pending.result()
    recover_later() if with_journal else reap_later()
    reviews.reconcile(now=timezone.now())
    call = caller.only_call
    assert (call.state, call.evidence) == ("review", None)
    assert call.review_reason == ("process_died" if with_journal else "deadline_passed")
    assert caller.wallet == {"balance": BALANCE, "held": call.hold_microusd, "debt": 0}
    assert reviews.charge(call.id, cost_microusd=3)
    assert not reviews.charge(call.id, cost_microusd=3)
    assert caller.wallet == {"balance": BALANCE - 3, "held": 0, "debt": 0}
    assert audit.findings() == []
