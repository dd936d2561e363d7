"""An unknown outcome is charged once and exactly by the upstream's own record, if the operator enables look-ups."""

from datetime import timedelta
from typing import Any

import pytest
from aiohttp import web
from django.utils import timezone

from billing.operations import ledger, reviews
from inference.models import Alias, Deployment, Upstream
from inference.operations.look_ups import look_up
from inference.queries import catalogue
from tests.inference.misbehaviour.wire import MisbehavingUpstream, Play, whole
from tests.inference.routes.test_translated import TO_CHAT, TO_RESPONSES
from tests.support.concurrency import eventually
from tests.support.stage import CHAT, EMBEDDINGS, MESSAGE, PRICE, RESPONSES, Caller, Stage, ask, chat, message

BALANCE = 50_000
COST = 11
"""7 input tokens and the 16 output tokens of the whole answer: 1.05 + 9.6 micro-USD, rounded up once."""

LOOKED_UP = {"looks_up": "generations"}


@pytest.fixture(autouse=True)
def others_are_over() -> None:
    """Resolve the calls that other tests left in review."""
    from billing.models import Call

    for call in Call.objects.filter(state="review"):
        reviews.release(call.id)


def left_to_review(
    stage: Stage, model: str, *, streams: bool = False, path: str = CHAT, options: Any = LOOKED_UP, **fields: Any
) -> Caller:
    """Make a call whose outcome is unknown."""
    caller = stage.caller(balance=BALANCE)
    alias = stage.model(model, upstream=stage.upstream_row(options=options), **{"max_output_tokens": 30, **fields})
    body = {CHAT: chat, MESSAGE: message, RESPONSES: ask}[path](alias)
    caller.post({**body, "stream": True} if streams else body, path=path)
    assert caller.only_call.state == "review"
    return caller


def reconcile() -> int:
    return reviews.reconcile(now=timezone.now())


def assert_charged(caller: Caller, cost: int, basis: str = "upstream") -> None:
    call = caller.only_call
    assert (call.state, call.resolution, call.charge_microusd) == ("settled", basis, cost)
    assert call.usage_record.basis == basis
    assert caller.wallet == {"balance": BALANCE - cost, "held": 0, "debt": 0}


@pytest.mark.parametrize("path", [CHAT, MESSAGE, RESPONSES])
@pytest.mark.parametrize(
    ("model", "streams"),
    [
        ("cut-mid-body", False),
        ("garbage-json", False),
        ("usage-missing", False),
        ("usage-missing", True),
        ("usage-negative", True),
        ("cut-mid-stream", True),
        ("error-event", True),
    ],
)
def test_a_record_is_charged_once(stage: Stage, path: str, model: str, streams: bool) -> None:
    caller = left_to_review(stage, model, streams=streams, path=path)
    [entry] = stage.upstream.ledger
    assert reconcile() == 1
    assert_charged(caller, COST)
    used = caller.only_call.usage_record
    assert (used.input_tokens, used.output_tokens) == (entry.prompt_tokens, 16)
    assert stage.upstream.records.requests == [f"gen-{entry.id}"]
    assert reconcile() == 0
    assert stage.upstream.records.requests == [f"gen-{entry.id}"]
    assert_charged(caller, COST)


@pytest.mark.parametrize("way", [TO_CHAT, TO_RESPONSES], ids=["responses-by-chat", "chat-by-responses"])
@pytest.mark.parametrize("streams", [False, True])
def test_translated_calls_are_looked_up_as_well(stage: Stage, way: Any, streams: bool) -> None:
    options = {**LOOKED_UP, "routes": [way.known]}
    caller = left_to_review(stage, "cut-mid-body", streams=streams, path=way.path, options=options)
    assert reconcile() == 1
    assert_charged(caller, COST)


@pytest.mark.parametrize(("reported", "cost"), [({}, 6), ({"service_tier": "default"}, COST)])
def test_a_record_is_charged_at_its_tier_or_else_at_the_one_asked_for(
    stage: Stage, reported: dict[str, Any], cost: int
) -> None:
    caller = stage.caller(balance=BALANCE)
    price = {**PRICE, "service_tiers": {"flex": {"input_token": "0.075", "output_token": "0.30"}}}
    alias = stage.model(
        "garbage-json", price=price, upstream=stage.upstream_row(options=LOOKED_UP), max_output_tokens=30
    )
    caller.post({**chat(alias), "service_tier": "flex"}, path=CHAT)
    stage.upstream.records.changed = reported
    assert reconcile() == 1
    assert_charged(caller, cost)


def test_a_record_that_does_not_exist_yet_is_requested_again(stage: Stage) -> None:
    caller, records = left_to_review(stage, "garbage-json"), stage.upstream.records
    records.missing = True
    now = timezone.now()
    assert reviews.reconcile(now=now) == 0
    assert reviews.reconcile(now=now) == 0
    assert (caller.only_call.state, len(records.requests)) == ("review", 1)
    records.missing = False
    assert reviews.reconcile(now=now + timedelta(minutes=2)) == 1
    assert_charged(caller, COST)


def test_a_stream_without_a_record_is_charged_by_what_was_delivered(stage: Stage) -> None:
    caller = left_to_review(stage, "cut-mid-stream", streams=True)
    stage.upstream.records.missing = True
    delivered = caller.only_call.evidence["charge_microusd"]
    assert reconcile() == 1
    assert_charged(caller, delivered, "delivered")


HOSTILE: dict[str, Any] = {
    "another call's": {"id": "gen-somebody-elses"},
    "no id": {"id": None},
    "no input": {"native_tokens_prompt": None},
    "no output": {"native_tokens_completion": None},
    "negative": {"native_tokens_completion": -16},
    "fractional": {"native_tokens_completion": 16.5},
    "a text": {"native_tokens_completion": "16"},
    "true": {"native_tokens_completion": True},
    "a list": {"native_tokens_prompt": [7]},
    "huge": {"native_tokens_completion": 10**30},
    "more cached than sent": {"native_tokens_cached": 8},
    "cached is a text": {"native_tokens_cached": "1"},
}


@pytest.mark.parametrize("changed", HOSTILE.values(), ids=HOSTILE)
def test_a_record_that_cannot_be_trusted_charges_nothing(stage: Stage, changed: dict[str, Any]) -> None:
    caller = left_to_review(stage, "garbage-json")
    stage.upstream.records.changed = changed
    assert reconcile() == 0
    call = caller.only_call
    assert (call.state, len(stage.upstream.records.requests)) == ("review", 1)
    assert caller.wallet == {"balance": BALANCE, "held": call.hold_microusd, "debt": 0}


RAW: dict[str, dict[str, Any]] = {
    "refused": {"status": 401, "body": b"{}", "content_type": "application/json"},
    "failed": {"status": 500, "body": b"sk-upstream-secret-0001"},
    "redirect": {"status": 302, "headers": {"Location": "/v1/models"}},
    "page": {"body": b"<html>", "content_type": "text/html"},
    "garbage": {"body": b'{"data": ', "content_type": "application/json"},
    "a list": {"body": b"[]", "content_type": "application/json"},
    "data is a list": {"body": b'{"data": []}', "content_type": "application/json"},
    "nothing": {"body": b"{}", "content_type": "application/json"},
}


@pytest.mark.parametrize("answer", RAW.values(), ids=RAW)
def test_an_answer_that_is_not_a_record_charges_nothing(
    stage: Stage, answer: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    caller = left_to_review(stage, "garbage-json")
    stage.upstream.records.raw = web.Response(**answer)
    assert reconcile() == 0
    assert (caller.only_call.state, len(stage.upstream.records.requests)) == ("review", 1)
    assert "sk-upstream-secret" not in caplog.text


@pytest.mark.parametrize("raw", [b"no HTTP\r\n\r\n", b""], ids=["no HTTP", "nothing"])
def test_an_upstream_whose_answer_is_no_http_has_no_record(
    stage: Stage, raw: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    caller = left_to_review(stage, "garbage-json")
    with MisbehavingUpstream() as upstream:
        upstream.play = Play([raw])
        Upstream.objects.filter(deployments__alias__name=caller.only_call.model).update(base_url=upstream.base_url)
        assert reconcile() == 0
        assert len(upstream.requests) == 1
    assert caller.only_call.state == "review"
    assert "has no record of gen-" in caplog.text
    assert "failed" not in caplog.text  # an exception that nobody expected


def test_no_more_than_the_hold_is_charged(stage: Stage) -> None:
    caller = left_to_review(stage, "garbage-json")
    stage.upstream.records.changed = {"native_tokens_completion": 10**6}
    assert reconcile() == 1
    call = caller.only_call
    assert_charged(caller, call.hold_microusd)
    assert call.overrun_microusd > 0


def test_cached_tokens_have_their_own_price(stage: Stage) -> None:
    caller = left_to_review(stage, "garbage-json")
    stage.upstream.records.changed = {"native_tokens_prompt": 10_000, "native_tokens_cached": 4_000}
    call = caller.only_call
    assert look_up(call) == reviews.Finding(
        -(-(6_000 * 150 + 4_000 * 75 + 16 * 600) // 1000),
        {"input_tokens": 10_000, "cached_input_tokens": 4_000, "output_tokens": 16},
    )


@pytest.mark.parametrize("options", [{}, {"looks_up": "responses"}])
def test_records_are_looked_up_only_if_the_operator_enables_it(stage: Stage, options: dict[str, Any]) -> None:
    whole = left_to_review(stage, "garbage-json", options=options)
    assert whole.only_call.evidence is None
    stream = left_to_review(stage, "cut-mid-stream", streams=True, options=options)
    assert "generation_id" not in stream.only_call.evidence
    assert reconcile() == 1
    assert stage.upstream.records.requests == []


def test_nothing_is_looked_up_after_the_operator_disables_it(stage: Stage) -> None:
    caller = left_to_review(stage, "garbage-json")
    Upstream.objects.filter(deployments__alias__name=caller.only_call.model).update(options={})
    assert look_up(caller.only_call) is None
    assert stage.upstream.records.requests == []


def test_a_call_without_response_headers_has_no_record(stage: Stage) -> None:
    caller = left_to_review(stage, "cut-before-headers")
    assert caller.only_call.evidence is None
    assert reconcile() == 0
    assert stage.upstream.records.requests == []


def test_embeddings_are_not_looked_up(stage: Stage) -> None:
    caller = stage.caller(balance=BALANCE)
    upstream = stage.upstream_row(options=LOOKED_UP)
    alias = stage.model("garbage-json", upstream=upstream, options={"routes": ["embeddings"]})
    caller.post({"model": alias, "input": "Hello"}, path=EMBEDDINGS)
    assert caller.only_call.evidence["generation_id"]
    assert reconcile() == 0
    assert stage.upstream.records.requests == []


@pytest.mark.parametrize("component", ["input_audio_token", "output_audio_token"])
def test_a_call_with_separate_audio_and_text_prices_is_not_looked_up(stage: Stage, component: str) -> None:
    left_to_review(stage, "garbage-json", price={**PRICE, component: "9"})
    assert reconcile() == 0
    assert stage.upstream.records.requests == []


def test_the_record_of_a_refused_attempt_is_not_used_for_the_next(stage: Stage) -> None:
    caller = stage.caller(balance=BALANCE)
    alias = stage.model("overloaded", upstream=stage.upstream_row(options=LOOKED_UP), max_output_tokens=30)
    other = stage.upstream_row()
    Deployment.objects.create(alias=Alias.objects.get(name=alias), upstream=other, model="garbage-json", priority=1)
    catalogue.forget()
    caller.post(chat(alias))
    assert [entry.model for entry in stage.upstream.ledger] == ["overloaded", "garbage-json"]
    assert (caller.only_call.state, caller.only_call.evidence) == ("review", None)


@pytest.mark.parametrize("header", ["", "gen 1", "g" * 65, "gen-1/../../keys", "gen-1?x=1", "gén", "gen-1&id=gen-2"])
def test_a_header_that_is_not_an_id_is_not_stored(stage: Stage, header: str) -> None:
    with MisbehavingUpstream() as upstream:
        upstream.play = Play([whole(b"garbage", "application/json", X_Generation_Id=header)])
        row = stage.upstream_row(base_url=upstream.base_url, options=LOOKED_UP)
        alias, caller = stage.model(upstream=row, max_output_tokens=30), stage.caller()
        caller.post(chat(alias))
    assert (caller.only_call.state, caller.only_call.evidence) == ("review", None)


def test_a_running_stream_stores_the_id_of_its_record(stage: Stage, settings: Any) -> None:
    """So that recovery can look up the record of a dead process's call."""
    settings.STREAM_CHECKPOINT_SECONDS = 0.05
    caller = stage.caller(balance=BALANCE)
    alias = stage.model(upstream=stage.upstream_row(options=LOOKED_UP), max_output_tokens=30)
    with stage.upstream.holding(), caller.stream(chat(alias)) as answer:
        lines = answer.iter_lines()
        next(lines)
        evidence = eventually(lambda: caller.only_call.evidence)
        stage.upstream.release()
        assert list(lines)
    assert evidence["generation_id"] == f"gen-{stage.upstream.ledger.entries[0].id}"
    assert caller.only_call.state == "settled"


def test_a_call_that_was_decided_during_the_look_up_is_unchanged(stage: Stage) -> None:
    caller = left_to_review(stage, "garbage-json")
    finding = look_up(caller.only_call)
    assert finding is not None
    assert ledger.release_review(usage_id=caller.only_call.id, resolution="operator", book_loss=False).run()
    assert reviews.resolve(caller.only_call.id, finding) is False
    assert caller.wallet == {"balance": BALANCE, "held": 0, "debt": 0}


def test_the_records_id_is_not_sent_to_the_client(stage: Stage) -> None:
    caller = stage.caller()
    alias = stage.model(upstream=stage.upstream_row(options=LOOKED_UP), max_output_tokens=30)
    answer = caller.post(chat(alias))
    assert "gen-" not in answer.text + str(answer.headers)
