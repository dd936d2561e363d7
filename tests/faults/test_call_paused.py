"""A server process is suspended for so long that others decide on its calls, and then resumes."""

import signal
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from billing.operations import ledger, reviews
from billing.queries import audit
from inference.metering import recovery
from tests.support.concurrency import PATIENCE_SECONDS, eventually
from tests.support.processes import gateway_process
from tests.support.stage import Stage, chat

BALANCE = 5_000


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("decided", ["charged", "released", "open"])
def test_a_decision_made_during_the_pause_stands_and_the_answer_states_it(
    stage: Stage, tmp_path: Path, settings: Any, stream: bool, decided: str
) -> None:
    settings.CALL_JOURNAL_DIR = tmp_path
    patient = stage.upstream_row(timeout_seconds=PATIENCE_SECONDS)  # its time goes on during the pause
    alias = stage.model("small-1?tokens=20", max_output_tokens=50, upstream=patient)
    caller = stage.caller(balance=BALANCE)
    with (
        gateway_process(CALL_JOURNAL_DIR=str(tmp_path)) as (origin, server),
        ThreadPoolExecutor() as threads,
        stage.upstream.holding(),
    ):
        home, caller.origin = caller.origin, origin
        pending = threads.submit(caller.post, chat(alias, stream=stream), key="one", timeout=PATIENCE_SECONDS)
        eventually(lambda: len(stage.upstream.ledger) == 1)
        server.send_signal(signal.SIGSTOP)
        try:
            for hours in (0, 2):
                recovery.recover(now=timezone.now() + timedelta(hours=hours))
            ledger.reap(limit=100, now=timezone.now() + timedelta(hours=2)).rows()
            call = caller.only_call
            assert (call.state, call.review_reason) == ("review", "deadline_passed")
            if decided == "charged":
                assert reviews.charge(call.id, cost_microusd=3)
            if decided == "released":
                assert reviews.release(call.id)
            stage.upstream.release()
            eventually(lambda: stage.upstream.ledger.entries[0].outcome == "complete")
        finally:
            server.send_signal(signal.SIGCONT)
        answer = pending.result()
        caller.origin = home
    assert answer.status_code in (200, 503)
    call = caller.only_call
    assert call.state == {"charged": "settled", "released": "released", "open": "settled"}[decided]
    if decided == "charged":
        assert call.charge_microusd == 3
    stated = answer.headers.get("x-service-charge-microusd")
    if stream:
        [comment] = [line for line in answer.text.splitlines() if line.startswith(": service")]
        stated = comment.partition('"charge_microusd":')[2].removesuffix("}")
    assert stated in (str(call.charge_microusd), "null" if stream else None)
    assert caller.wallet == {"balance": BALANCE - (call.charge_microusd or 0), "held": 0, "debt": 0}
    assert len(stage.upstream.ledger) == 1
    assert audit.findings() == []
