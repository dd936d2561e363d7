"""`kill -9` while a message is streamed: its last checkpoint is charged once, with the input that its upstream counted."""

import signal
from pathlib import Path

import httpx
import pytest
from django.utils import timezone

from billing.operations import reviews
from billing.queries import audit
from tests.faults.test_call_crash import journals, recover_later  # noqa: F401
from tests.inference.routes.test_messages import FORMS, HELLO, PATH, model_of
from tests.support.processes import gateway_process
from tests.support.stage import Stage

BALANCE = 100_000


@pytest.mark.parametrize("form", FORMS)
def test_a_killed_stream_is_charged_by_its_last_checkpoint(
    stage: Stage,
    journals: Path,  # noqa: F811
    form: str,
) -> None:
    alias, caller = model_of(stage, form, "small-1?tokens=400&token_delay_ms=20"), stage.caller(balance=BALANCE)
    body = {"model": alias, "max_tokens": 500, "messages": HELLO}
    with gateway_process(CALL_JOURNAL_DIR=str(journals)) as (origin, server):
        caller.origin = origin
        with caller.stream(body, path=PATH) as answer:
            lines = answer.iter_lines()
            for _ in range(40):
                next(lines)
            server.send_signal(signal.SIGKILL)
            with pytest.raises(httpx.TransportError):
                list(lines)
    recover_later()
    call = caller.only_call
    assert (call.state, call.review_reason) == ("review", "process_died")
    counted = stage.upstream.ledger.entries[0].prompt_tokens if form == "anthropic" else 7
    assert call.evidence["input_tokens"] == counted
    assert counted * 3 < call.evidence["charge_microusd"] <= call.hold_microusd
    reviews.reconcile(now=timezone.now())
    call = caller.only_call
    assert (call.state, call.charge_microusd) == ("settled", call.evidence["charge_microusd"])
    assert caller.wallet == {"balance": BALANCE - call.charge_microusd, "held": 0, "debt": 0}
    assert audit.findings() == []
