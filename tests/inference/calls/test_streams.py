"""Streams that do not end normally."""

import gc
from typing import Any

import orjson
import pytest
from django.utils import timezone

from billing.operations import reviews
from inference.metering.call import Call
from tests.factories.billing import release
from tests.support.concurrency import eventually
from tests.support.stage import Caller, Stage, chat
from tests.support.upstream import LEAKS


def read(caller: Caller, alias: Any, **members: Any) -> Any:
    with caller.stream(chat(alias, **members)) as answer:
        assert answer.status_code == 200, answer.read()
        return [line for line in answer.iter_lines() if line]


def receipt_of(lines: Any) -> Any:
    return orjson.loads(lines[-1].removeprefix(": service "))


@pytest.mark.parametrize(
    "preset", ["cut-mid-stream", "cut-mid-event", "cut-first-event", "cut-before-done", "no-done", "error-event"]
)
def test_a_broken_stream_ends_in_an_error_and_is_charged_by_what_was_delivered(stage: Stage, preset: str) -> None:
    alias, caller = stage.model(preset, max_output_tokens=50), stage.caller(balance=5_000)
    with caller.stream(chat(alias)) as answer:
        lines = [line for line in answer.iter_lines() if line]
    assert not [leak for leak in LEAKS if leak in "\n".join(lines)]
    if answer.status_code != 200:  # nothing was delivered
        assert caller.only_call.state == "review"
        return
    error = orjson.loads(lines[-2].removeprefix("data: "))["error"]
    assert error["code"] in {"upstream_error", "upstream_invalid"}
    call = caller.only_call
    assert receipt_of(lines) == {"usage_id": call.id, "charge_microusd": None}
    assert call.state == "review"
    assert caller.wallet["held"] == call.hold_microusd
    assert 0 < call.evidence["charge_microusd"] <= call.hold_microusd
    assert reviews.reconcile(now=timezone.now()) >= 1
    call = caller.only_call
    assert (call.state, call.charge_microusd) == ("settled", call.evidence["charge_microusd"])
    assert call.usage_record.basis == "delivered"
    assert caller.wallet == {"balance": 5_000 - call.charge_microusd, "held": 0, "debt": 0}
    assert reviews.reconcile(now=timezone.now()) == 0 or caller.only_call.charge_microusd == call.charge_microusd


def test_a_stream_that_exceeds_its_limit_is_cut(stage: Stage) -> None:
    alias = stage.model("endless?token_delay_ms=20", max_output_tokens=30)
    caller = stage.caller(balance=5_000)
    lines = read(caller, alias)
    call = caller.only_call
    assert lines[-2] == "data: [DONE]"
    last = orjson.loads(lines[-3].removeprefix("data: "))
    assert last["choices"][0]["finish_reason"] == "length"
    assert last["model"] == alias
    assert (call.state, call.charge_microusd) == ("settled", receipt_of(lines)["charge_microusd"])
    assert call.charge_microusd <= call.hold_microusd
    assert call.usage_record.output_tokens == 30
    assert call.usage_record.basis == "delivered"
    eventually(lambda: stage.upstream.ledger.entries[0].outcome == "left")
    assert stage.upstream.ledger.entries[0].completion_tokens < 200


def test_an_honest_stream_at_its_limit_is_not_cut(stage: Stage) -> None:
    alias, caller = stage.model("small-1?tokens=500", max_output_tokens=400), stage.caller(balance=5_000)
    lines = read(caller, alias, stream_options={"include_usage": True})
    eventually(lambda: stage.upstream.ledger.entries[0].outcome == "complete")
    usage = orjson.loads(lines[-3].removeprefix("data: "))["usage"]
    assert usage["completion_tokens"] == 400
    assert caller.only_call.usage_record.basis == "upstream"


def test_a_stream_without_usage_is_left_to_review(stage: Stage) -> None:
    alias, caller = stage.model("usage-missing", max_output_tokens=50), stage.caller(balance=5_000)
    lines = read(caller, alias)
    call = caller.only_call
    assert lines[-2] == "data: [DONE]"
    assert receipt_of(lines) == {"usage_id": call.id, "charge_microusd": None}
    assert (call.state, call.review_reason) == ("review", "usage_missing")
    assert call.evidence["output_tokens"] == stage.upstream.ledger.entries[0].completion_tokens


@pytest.mark.parametrize("preset", ["usage-negative", "usage-huge", "usage-string", "usage-fractional"])
def test_a_stream_with_malformed_usage_ends_in_an_error(stage: Stage, preset: str) -> None:
    alias, caller = stage.model(preset, max_output_tokens=50), stage.caller(balance=5_000)
    lines = read(caller, alias)
    assert orjson.loads(lines[-2].removeprefix("data: "))["error"]["code"] == "upstream_invalid"
    assert caller.only_call.state == "review"


def test_usage_is_sent_only_if_requested(stage: Stage) -> None:
    alias, caller = stage.model(max_output_tokens=50), stage.caller()
    assert not [line for line in read(caller, alias) if '"usage":{' in line]
    shown = [line for line in read(caller, alias, stream_options={"include_usage": True}) if '"usage":{' in line]
    assert len(shown) == 1


@pytest.mark.parametrize(
    "preset", ["sse-bytewise", "sse-coalesced", "sse-comments", "sse-crlf", "sse-multiline", "sse-split-utf8"]
)
def test_any_framing_of_the_events_gives_the_same_answer_and_charge(stage: Stage, preset: str) -> None:
    alias, caller = stage.model(preset, max_output_tokens=50), stage.caller()
    lines = read(caller, alias)
    [entry] = stage.upstream.ledger
    call = caller.only_call
    assert (call.state, call.usage_record.output_tokens) == ("settled", entry.completion_tokens)
    chunks = [orjson.loads(line.removeprefix("data: ")) for line in lines[:-2]]
    assert {chunk["model"] for chunk in chunks} == {alias}
    assert len({chunk["id"] for chunk in chunks}) == 1


def test_an_answer_in_one_piece_to_a_stream_request_is_forwarded(stage: Stage) -> None:
    alias, caller = stage.model("swapped", max_output_tokens=50), stage.caller()
    lines = read(caller, alias, stream_options={"include_usage": True})
    call = caller.only_call
    assert lines[-2] == "data: [DONE]"
    assert receipt_of(lines) == {"usage_id": call.id, "charge_microusd": call.charge_microusd}
    chunks = [orjson.loads(line.removeprefix("data: ")) for line in lines[:-2]]
    assert chunks[0]["choices"][0]["delta"]["content"]
    assert chunks[1]["choices"][0]["finish_reason"]
    assert chunks[-1]["usage"]["completion_tokens"] == call.usage_record.output_tokens


def test_a_refusal_before_the_stream_is_an_ordinary_error(stage: Stage) -> None:
    alias, caller = stage.model("rate-limited", max_output_tokens=50), stage.caller(balance=5_000)
    with caller.stream(chat(alias)) as answer:
        body = orjson.loads(answer.read())
    assert (answer.status_code, body["error"]["code"]) == (503, "upstream_overloaded")
    assert caller.wallet == {"balance": 5_000, "held": 0, "debt": 0}


def test_a_stream_whose_call_was_closed_elsewhere_is_stopped(stage: Stage, settings: Any) -> None:
    settings.STREAM_CHECKPOINT_SECONDS = 0.1
    alias, caller = stage.model("small-1?tokens=2000&token_delay_ms=10", max_output_tokens=2500), stage.caller()
    with caller.stream(chat(alias)) as answer:
        lines = answer.iter_lines()
        next(lines)
        released = release(answer.headers["x-service-usage-id"])
        rest = [line for line in lines if line]
    assert released.outcome == "released"
    assert orjson.loads(rest[-2].removeprefix("data: "))["error"]["code"] == "not_ready"
    assert caller.only_call.state == "released"
    assert stage.upstream.ledger.entries[0].completion_tokens < 2000


@pytest.mark.parametrize("is_read", [True, False])
def test_a_stream_that_has_ended_leaves_no_call_to_the_garbage_collector(stage: Stage, is_read: bool) -> None:
    alias, caller = stage.model(max_output_tokens=50), stage.caller()
    gc.collect()
    gc.disable()
    try:
        with caller.stream(chat(alias)) as answer:
            list(answer.iter_raw()) if is_read else next(answer.iter_raw())
        eventually(lambda: not any(type(each) is Call for each in gc.get_objects()))
    finally:
        gc.enable()
