"""Many requests at once."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from billing.models import Transfer, UsageRecord
from tests.support.concurrency import eventually
from tests.support.stage import Stage, chat


def codes(answers: Any) -> Any:
    return Counter(a.status_code if a.status_code == 200 else a.json()["error"]["code"] for a in answers)


def test_a_wallet_that_pays_for_ten_admits_exactly_ten_of_fifty(stage: Stage) -> None:
    # Each call costs as much as it holds, so that a call that has ended frees no funds for another.
    alias = stage.model("small-1?delay_ms=100", max_output_tokens=16, price={"request": "150"})
    caller = stage.caller(balance=1_500)
    with ThreadPoolExecutor(50) as threads:
        answers = list(threads.map(lambda _: caller.post(chat(alias)), range(50)))
    assert codes(answers) == {200: 10, "insufficient_funds": 40}
    assert [call.charge_microusd for call in caller.calls] == [150] * 10
    assert caller.wallet == {"balance": 0, "held": 0, "debt": 0}
    assert len(stage.upstream.ledger) == 10


def test_twenty_requests_with_one_key_make_one_call(stage: Stage) -> None:
    alias, caller = stage.model(max_output_tokens=16), stage.caller()
    with ThreadPoolExecutor(20) as threads, stage.upstream.holding():
        sent = [threads.submit(caller.post, chat(alias), key="one") for _ in range(20)]
        eventually(lambda: [call.done() for call in sent].count(True) == 19)
    answers = [call.result() for call in sent]
    assert codes(answers) == {200: 1, "idempotency_in_progress": 19}
    assert len(stage.upstream.ledger) == 1
    call = caller.only_call
    assert UsageRecord.objects.filter(call=call).count() == 1
    assert Transfer.objects.filter(kind="charge", source=call.id).count() == 1


def test_concurrent_uses_of_one_proof_are_accepted_once(stage: Stage) -> None:
    alias, caller = stage.model(max_output_tokens=16), stage.caller()
    proof = caller.headers("/v1/chat/completions")
    with ThreadPoolExecutor(10) as threads:
        answers = list(threads.map(lambda _: caller.post(chat(alias), headers=proof), range(10)))
    assert codes(answers) == {200: 1, "invalid_dpop_proof": 9}


def test_many_open_streams_leave_the_pool_free(stage: Stage) -> None:
    slow = stage.model("small-1?tokens=40&token_delay_ms=25", max_output_tokens=64)
    alias, caller = stage.model(max_output_tokens=16), stage.caller(balance=100_000_000)

    def drain(_: Any) -> Any:
        with caller.stream(chat(slow)) as answer:
            return answer.status_code, sum(1 for _ in answer.iter_lines())

    with ThreadPoolExecutor(60) as threads:
        streams = [threads.submit(drain, index) for index in range(60)]
        answers = [caller.post(chat(alias)) for _ in range(10)]
        assert {stream.result()[0] for stream in streams} == {200}
    assert codes(answers) == {200: 10}
    assert {call.state for call in caller.calls} == {"settled"}
