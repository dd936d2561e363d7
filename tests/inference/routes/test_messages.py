"""`POST /v1/messages` at upstreams of each form: what is sent, what comes back, and what it costs."""

from collections.abc import Iterator
from typing import Any

import httpx
import orjson
import pytest

from inference.models import Alias
from inference.queries import catalogue
from tests.support.stage import Caller, Stage

PATH = "/v1/messages"
PRICE = {
    "input_token": "3",
    "cached_input_token": "0.3",
    "cache_write_token": "3.75",
    "cache_write_1h_token": "6",
    "output_token": "15",
}
HELLO = [{"role": "user", "content": "Say something about badgers."}]
WEATHER = {
    "name": "weather",
    "description": "Tell the weather.",
    "input_schema": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
}

FORMS: dict[str, dict[str, Any]] = {
    "anthropic": {"adapter": "anthropic"},
    "chat": {"options": {"routes": ["chat.completions"]}},
    "responses": {"options": {"routes": ["responses"]}},
}


@pytest.fixture(params=FORMS, name="form")
def _form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=[False, True], ids=["json", "stream"], name="streams")
def _streams(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def model_of(stage: Stage, form: str, model: str = "small-1", **fields: Any) -> str:
    return stage.model(model, upstream=stage.upstream_row(**FORMS[form]), price=PRICE, **fields)


def send(caller: Caller, alias: str, *, streams: bool = False, **members: Any) -> httpx.Response:
    body = {"model": alias, "max_tokens": 100, "messages": HELLO, **members}
    return caller.post({**body, "stream": True} if streams else body, path=PATH)


def events_in(text: str) -> list[dict[str, Any]]:
    return [orjson.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]


def message_in(answer: httpx.Response, *, streams: bool) -> dict[str, Any]:
    """Return the message, put together from its events if it was streamed."""
    assert answer.status_code == 200, answer.text
    if not streams:
        return dict(answer.json())
    message: dict[str, Any] = {}
    for event in events_in(answer.text):
        match event["type"]:
            case "message_start":
                message = event["message"]
            case "content_block_start":
                message["content"].append(event["content_block"])
            case "content_block_delta":
                _apply(message["content"][event["index"]], event["delta"])
            case "message_delta":
                message |= event["delta"]
                message["usage"] = {**message["usage"], **event["usage"]}
    for block in message["content"]:
        if block["type"] == "tool_use" and isinstance(block["input"], str):
            block["input"] = orjson.loads(block["input"])
    return message


def _apply(block: dict[str, Any], delta: dict[str, Any]) -> None:
    match delta["type"]:
        case "text_delta":
            block["text"] += delta["text"]
        case "thinking_delta":
            block["thinking"] += delta["thinking"]
        case "signature_delta":
            block["signature"] = delta["signature"]
        case "input_json_delta":
            block["input"] = (block["input"] or "") + delta["partial_json"]


def test_a_message_is_answered_and_charged(stage: Stage, form: str, streams: bool) -> None:
    alias, caller = model_of(stage, form, "small-1?tokens=5&cached_tokens=2"), stage.caller()
    answer = send(caller, alias, streams=streams, system="Be brief.", stop_sequences=[], temperature=0.5)
    message = message_in(answer, streams=streams)
    [entry] = stage.upstream.ledger.entries
    assert (message["type"], message["role"], message["model"]) == ("message", "assistant", alias)
    assert message["id"].startswith("msg_")
    assert message["content"] == [{"type": "text", "text": "the quick brown fox jumps"}]
    assert (message["stop_reason"], message["stop_sequence"]) == ("end_turn", None)
    assert {name: message["usage"][name] for name in ("input_tokens", "cache_read_input_tokens", "output_tokens")} == {
        "input_tokens": entry.prompt_tokens - 2,
        "cache_read_input_tokens": 2,
        "output_tokens": 5,
    }
    call = caller.only_call
    assert (call.route, call.state) == ("messages", "settled")
    assert (call.usage_record.input_tokens, call.usage_record.cached_input_tokens) == (entry.prompt_tokens, 2)
    assert call.charge_microusd == -(-((entry.prompt_tokens - 2) * 30 + 2 * 3 + 5 * 150) // 10)
    assert answer.headers["request-id"] == answer.headers["x-request-id"]
    assert "upstream" not in answer.text
    if streams:
        assert answer.text.splitlines()[-2].startswith(": service ")
        assert events_in(answer.text)[-1] == {"type": "message_stop"}


def test_the_prompt_reaches_each_form(stage: Stage, form: str) -> None:
    alias, caller = model_of(stage, form), stage.caller()
    send(caller, alias, system=[{"type": "text", "text": "Be brief."}], max_tokens=7, metadata={"user_id": "u1"})
    sent = stage.upstream.ledger.entries[0].body
    match form:
        case "anthropic":
            assert sent["system"] == [{"type": "text", "text": "Be brief."}]
            assert (sent["messages"], sent["max_tokens"], sent["service_tier"]) == (HELLO, 7, "standard_only")
            assert stage.upstream.ledger.entries[0].headers["anthropic-version"] == "2023-06-01"
        case "chat":
            assert sent["messages"] == [{"role": "system", "content": "Be brief."}, *HELLO]
            assert (sent["max_completion_tokens"], sent["user"]) == (7, "u1")
        case _:
            assert (sent["instructions"], sent["max_output_tokens"]) == ("Be brief.", 7)


def test_a_system_message_stays_where_it_is(stage: Stage, form: str) -> None:
    alias, caller = model_of(stage, form), stage.caller()
    edits = {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}
    note = {
        "role": "system",
        "content": [{"type": "text", "text": "Badgers only.", "cache_control": {"type": "ephemeral"}}],
    }
    answer = send(caller, alias, messages=[*HELLO, note], context_management=edits)
    assert answer.status_code == 200, answer.text
    sent = stage.upstream.ledger.entries[0].body
    match form:
        case "anthropic":
            assert (sent["messages"], sent["context_management"]) == ([*HELLO, note], edits)
        case "chat":
            assert sent["messages"] == [*HELLO, {"role": "system", "content": "Badgers only."}]
        case _:
            assert sent["input"][1] == {"type": "message", "role": "system", "content": "Badgers only."}


def test_tools_go_round(stage: Stage, form: str, streams: bool) -> None:
    alias, caller = model_of(stage, form), stage.caller()
    first = message_in(send(caller, alias, streams=streams, tools=[WEATHER]), streams=streams)
    assert first["stop_reason"] == "tool_use"
    [use] = [block for block in first["content"] if block["type"] == "tool_use"]
    assert (use["name"], use["input"]) == ("weather", {"place": "Reykjavík"})
    assert use["id"].startswith("toolu_")
    result = {"type": "tool_result", "tool_use_id": use["id"], "content": [{"type": "text", "text": "Rain."}]}
    again = [*HELLO, {"role": "assistant", "content": first["content"]}, {"role": "user", "content": [result]}]
    answer = send(caller, alias, streams=streams, tools=[WEATHER], messages=again)
    assert message_in(answer, streams=streams)["stop_reason"] == "end_turn"


def test_thinking_is_output_and_goes_back_with_its_signature(stage: Stage, streams: bool) -> None:
    alias, caller = model_of(stage, "anthropic", "small-1?tokens=3&reasoning_tokens=4"), stage.caller()
    thinking = {"type": "enabled", "budget_tokens": 1024}
    answer = send(caller, alias, streams=streams, max_tokens=2000, thinking=thinking)
    message = message_in(answer, streams=streams)
    assert message["content"][0] == {"type": "thinking", "thinking": "hm hm hm hm", "signature": "EqQBCkgIAxABGAIi"}
    assert caller.only_call.usage_record.output_tokens == 7
    again = [*HELLO, {"role": "assistant", "content": message["content"]}, *HELLO]
    assert send(caller, alias, messages=again).status_code == 200
    assert stage.upstream.ledger.entries[1].body["messages"] == again


def test_writes_to_the_cache_are_charged_by_their_time(stage: Stage, streams: bool) -> None:
    model = "small-1?tokens=1&cached_tokens=1&cache_write_tokens=4&cache_write_1h_tokens=3"
    alias, caller = model_of(stage, "anthropic", model), stage.caller()
    mark = {"type": "ephemeral", "ttl": "1h"}
    text = {"type": "text", "text": HELLO[0]["content"], "cache_control": mark}
    answer = send(caller, alias, streams=streams, messages=[{"role": "user", "content": [text]}])
    usage = message_in(answer, streams=streams)["usage"]
    assert (usage["cache_creation_input_tokens"], usage["cache_read_input_tokens"]) == (4, 1)
    record, prompt = caller.only_call.usage_record, stage.upstream.ledger.entries[0].prompt_tokens
    assert (record.input_tokens, record.cache_write_tokens, record.cache_write_1h_tokens) == (prompt, 4, 3)
    due = (prompt - 5) * 300 + 30 + 375 + 3 * 600 + 1500
    assert record.charge_microusd == -(-due // 100)
    assert caller.only_call.hold_microusd >= record.charge_microusd


def test_a_limit_is_lowered_to_what_the_maximum_covers(stage: Stage, form: str, streams: bool) -> None:
    alias, caller = model_of(stage, form, "small-1?tokens=1000"), stage.caller()
    body = {"model": alias, "max_tokens": 900, "messages": HELLO, "stream": streams}
    answer = caller.post(body, path=PATH, max_cost=1000)
    message = message_in(answer, streams=streams)
    call = caller.only_call
    assert message["stop_reason"] == "max_tokens"
    assert call.charge_microusd <= call.hold_microusd <= 1000
    assert 0 < call.usage_record.output_tokens < 100


def test_thinking_is_lowered_with_the_limit_or_refused(stage: Stage) -> None:
    alias, caller = model_of(stage, "anthropic"), stage.caller()
    body = {
        "model": alias,
        "max_tokens": 9000,
        "messages": HELLO,
        "thinking": {"type": "enabled", "budget_tokens": 8000},
    }
    assert caller.post(body, path=PATH, max_cost=60_000).status_code == 200
    sent = stage.upstream.ledger.entries[0].body
    assert 1024 <= sent["thinking"]["budget_tokens"] < sent["max_tokens"] < 8000
    refused = caller.post(body, path=PATH, max_cost=15_000)
    assert (refused.status_code, refused.json()["error"]["type"]) == (402, "billing_error")
    assert refused.json()["error"]["code"] == "max_cost_exceeded"


def test_a_stream_beyond_its_limit_is_cut(stage: Stage, form: str) -> None:
    alias, caller = model_of(stage, form, "small-1?endless=true"), stage.caller()
    answer = send(caller, alias, streams=True, max_tokens=20)
    events = events_in(answer.text)
    assert [event["type"] for event in events[-3:]] == ["content_block_stop", "message_delta", "message_stop"]
    assert events[-2]["delta"]["stop_reason"] == "max_tokens"
    call = caller.only_call
    record = call.usage_record
    assert (call.state, record.basis, record.output_tokens) == ("settled", "delivered", 20)
    assert record.input_tokens == (stage.upstream.ledger.entries[0].prompt_tokens if form == "anthropic" else 7)
    assert events[-2]["usage"] == {
        "input_tokens": record.input_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 20,
    }


@pytest.mark.parametrize(
    "behaviour", ["error_event=true", "cut=mid_stream", "done=false"], ids=["error", "cut", "no end"]
)
def test_a_stream_that_breaks_ends_with_an_error_and_waits_for_review(stage: Stage, form: str, behaviour: str) -> None:
    alias, caller = model_of(stage, form, f"small-1?{behaviour}"), stage.caller()
    answer = send(caller, alias, streams=True)
    if (form, behaviour) == ("responses", "done=false"):  # its last event is not [DONE]
        assert caller.only_call.state == "settled"
        return
    last = events_in(answer.text)[-1]
    assert (last["type"], last["error"]["type"]) == ("error", "api_error")
    assert last["request_id"] == answer.headers["request-id"]
    call = caller.only_call
    assert (call.state, call.evidence["charge_microusd"] > 0) == ("review", True)


def test_an_overload_before_the_first_event_is_tried_again(stage: Stage) -> None:
    alias, caller = model_of(stage, "anthropic"), stage.caller()
    stage.upstream.script(status=529, error_code="overloaded_error")
    assert send(caller, alias).status_code == 200
    assert len(stage.upstream.ledger.entries) == 2


@pytest.mark.parametrize("other", ["chat", "responses"])
def test_another_deployment_answers_whatever_it_speaks(stage: Stage, other: str, streams: bool) -> None:
    alias, caller = model_of(stage, "anthropic", "small-1?status=529"), stage.caller()
    second = stage.upstream_row(**FORMS[other])
    Alias.objects.get(name=alias).deployments.create(upstream=second, model="small-2", priority=1)
    catalogue.forget()
    message = message_in(send(caller, alias, streams=streams), streams=streams)
    assert (message["model"], message["stop_reason"]) == (alias, "end_turn")
    assert [entry.path for entry in stage.upstream.ledger][:: len(stage.upstream.ledger) - 1] == [
        "/messages",
        {"chat": "/chat/completions", "responses": "/responses"}[other],
    ]
    call = caller.only_call
    assert (call.state, call.charge_microusd <= call.hold_microusd) == ("settled", True)


@pytest.mark.parametrize("tier", [None, "auto", "standard_only"])
def test_the_default_tier_has_the_upstreams_name(stage: Stage, form: str, tier: str | None) -> None:
    alias, caller = model_of(stage, form), stage.caller()
    assert send(caller, alias, service_tier=tier).status_code == 200
    sent = stage.upstream.ledger.entries[0].body["service_tier"]
    assert sent == ("standard_only" if form == "anthropic" else "default")
    assert caller.only_call.usage_record.service_tier is None


def test_a_repeated_request_gets_the_first_answer(stage: Stage, form: str, streams: bool) -> None:
    alias, caller = model_of(stage, form), stage.caller()
    body = {"model": alias, "max_tokens": 10, "messages": HELLO, "stream": streams}
    first, second = (caller.post(body, path=PATH, key="one") for _ in range(2))
    assert first.text == second.text
    assert second.headers["Idempotent-Replayed"] == "true"
    assert len(stage.upstream.ledger.entries) == 1


@pytest.mark.parametrize(
    ("members", "param"),
    [
        ({"max_tokens": None}, "max_tokens"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"messages": []}, "messages"),
        ({"messages": ["hi"]}, "messages.0"),
        ({"messages": [{"role": "system", "content": "hi"}]}, "messages.0.role"),
        ({"messages": [{"role": "user", "content": 7}]}, "messages.0.content"),
        ({"messages": [{"role": "user", "content": [{"type": "server_tool_use"}]}]}, "messages.0.content.0.type"),
        ({"messages": [{"role": "user", "content": [{"type": "tool_use"}]}]}, "messages.0.content.0.type"),
        (
            {
                "messages": [
                    {"role": "user", "content": [{"type": "image", "source": {"type": "file", "file_id": "f"}}]}
                ]
            },
            "messages.0.content.0.source.file_id",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "document", "source": {"type": "url", "url": "x"}}]}]},
            "messages.0.content.0.source",
        ),
        ({"system": [{"type": "image"}]}, "system.0"),
        ({"system": 7}, "system"),
        ({"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, "tools"),
        ({"tools": [{"type": "code_execution_20250825", "name": "x"}]}, "tools"),
        ({"mcp_servers": [{"url": "https://x"}]}, "mcp_servers"),
        ({"container": "c"}, "container"),
        ({"speed": "fast"}, "speed"),
        ({"thread": {"type": "continue", "previous_message_id": "msg_1"}}, "thread"),
        ({"compaction": {"type": "summarize"}}, "compaction"),
        ({"inference_geo": "us"}, "inference_geo"),
        ({"context_management": []}, "context_management"),
        ({"context_management": {"compact": True}}, "context_management"),
        ({"context_management": {"edits": ["x"]}}, "context_management"),
        ({"context_management": {"edits": [{"type": "compact_20260112"}]}}, "context_management.edits.0.type"),
        ({"context_management": {"edits": [{"type": 7}]}}, "context_management.edits.0.type"),
        ({"messages": [*HELLO, {"role": "system", "content": [{"type": "image"}]}]}, "messages.1.content.0.type"),
        ({"messages": [*HELLO, {"role": "developer", "content": "x"}]}, "messages.1.role"),
        ({"service_tier": "priority"}, "service_tier"),
        ({"service_tier": 7}, "service_tier"),
        ({"thinking": {"type": "enabled", "budget_tokens": 10}}, "thinking.budget_tokens"),
        ({"thinking": {"type": "enabled", "budget_tokens": 100}, "max_tokens": 100}, "thinking.budget_tokens"),
        ({"thinking": "on"}, "thinking"),
        ({"cache_control": {"type": "forever"}}, "cache_control.type"),
        ({"cache_control": {"type": "ephemeral", "ttl": "forever"}}, "cache_control.ttl"),
        ({"stream": "yes"}, "stream"),
    ],
)
def test_bad_input_names_its_member_and_reaches_no_upstream(stage: Stage, members: dict[str, Any], param: str) -> None:
    alias, caller = model_of(stage, "anthropic", context_tokens=10_000), stage.caller()
    answer = send(caller, alias, **members)
    assert answer.status_code == 400, answer.text
    error = answer.json()
    assert (error["type"], error["error"]["type"], error["error"]["code"]) == (
        "error",
        "invalid_request_error",
        "invalid_request",
    )
    assert error["error"]["param"] == param
    assert (caller.calls, stage.upstream.ledger.entries) == ([], [])


@pytest.mark.parametrize("beta", ["mcp-client-2025-04-04", "Code-Execution-2025-05-22", "a b", ","])
def test_betas_are_sent_on_or_refused(stage: Stage, beta: str) -> None:
    alias, caller = model_of(stage, "anthropic"), stage.caller()
    body = {"model": alias, "max_tokens": 10, "messages": HELLO}
    refused = caller.post(body, path=PATH, headers={"anthropic-beta": beta})
    if beta == ",":
        assert refused.status_code == 200
        return
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "anthropic-beta")
    sent = {
        "anthropic-beta": "interleaved-thinking-2025-05-14, context-1m-2025-08-07",
        "anthropic-version": "2026-10-21",
    }
    assert caller.post(body, path=PATH, headers=sent).status_code == 200
    headers = {name.lower(): value for name, value in stage.upstream.ledger.entries[0].headers.items()}
    assert headers == {
        "anthropic-beta": "interleaved-thinking-2025-05-14,context-1m-2025-08-07",
        "anthropic-version": "2026-10-21",
    }


def test_writes_without_a_price_of_their_own_are_charged_as_plain_input(stage: Stage) -> None:
    row = stage.upstream_row(adapter="anthropic")
    plain = stage.model(
        "small-1?tokens=1&cache_write_tokens=4", upstream=row, price={"input_token": "3", "output_token": "15"}
    )
    caller = stage.caller()
    answer = send(caller, plain, system=[{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}])
    prompt = stage.upstream.ledger.entries[0].prompt_tokens
    assert answer.status_code == 200
    assert caller.only_call.charge_microusd == prompt * 3 + 15


@pytest.mark.parametrize(
    ("scopes", "headers", "status", "kind"),
    [
        (("infer:nothing",), {}, 403, "permission_error"),
        (("infer:*",), {"Authorization": "Bearer x"}, 401, "authentication_error"),
        (("infer:*",), {"Content-Type": "text/plain"}, 415, "invalid_request_error"),
        (("infer:*",), {"x-service-max-cost-microusd": None}, 400, "invalid_request_error"),
    ],
)
def test_errors_have_the_vendors_shape(
    stage: Stage, scopes: tuple[str, ...], headers: dict[str, Any], status: int, kind: str
) -> None:
    alias, caller = model_of(stage, "anthropic"), stage.caller(scopes=scopes)
    answer = caller.post({"model": alias, "max_tokens": 10, "messages": HELLO}, path=PATH, headers=headers)
    error: Iterator[str] = iter(answer.json())
    assert list(error) == ["type", "error", "request_id"]
    assert (answer.status_code, answer.json()["error"]["type"]) == (status, kind)
    assert answer.json()["request_id"] == answer.headers["request-id"]


@pytest.mark.parametrize(
    ("text", "param", "details"),
    [
        ("max_tokens: 9 > 8, which is the maximum allowed", "max_tokens", {}),
        ("messages.0.content.0.text.text: Field required", "messages.0.content.0.text.text", {}),
        ("system: Input should be a valid list: 7", "system", {}),
        ("SECRET: is not in the request", None, {}),
        ("messages.0 of did:web:x: y", None, {}),
        ("messages", None, {}),
        ("prompt is too long: 200001 tokens > 200000 maximum", None, {"code": "context_length_exceeded"}),
    ],
)
def test_what_the_vendor_refuses_is_named(stage: Stage, text: str, param: str | None, details: Any) -> None:
    alias, caller = model_of(stage, "anthropic"), stage.caller()
    stage.upstream.script(status=400, error_message=text)
    answer = send(caller, alias, system="x")
    error = answer.json()["error"]
    assert (answer.status_code, error["param"], error["details"]) == (400, param, details)
    assert "SECRET" not in answer.text
    assert caller.only_call.state == "released"


def test_an_operator_without_credit_at_the_vendor_is_told(stage: Stage, form: str) -> None:
    alias, caller = model_of(stage, form), stage.caller()
    stage.upstream.script(status=400, error_message="Your credit balance is too low to access the API.")
    answer = send(caller, alias)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "model_unavailable")
    assert "credit" not in answer.text
    assert caller.only_call.state == "released"


def test_a_page_may_send_the_vendors_headers_and_read_the_request_id(stage: Stage, settings: Any) -> None:
    settings.CORS_ALLOWED_ORIGINS = ["https://app.example"]
    alias, caller = model_of(stage, "anthropic"), stage.caller()
    asked = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "anthropic-version,anthropic-beta",
    }
    allowed = caller.client.options(caller.origin + PATH, headers={"Origin": "https://app.example", **asked})
    assert {"anthropic-version", "anthropic-beta"} <= set(allowed.headers["access-control-allow-headers"].split(", "))
    body = {"model": alias, "max_tokens": 10, "messages": HELLO}
    answer = caller.post(body, path=PATH, headers={"Origin": "https://app.example"})
    assert "request-id" in answer.headers["access-control-expose-headers"].split(", ")


@pytest.mark.parametrize("members", [{"top_k": 5}, {"stop_sequences": ["x"]}], ids=["top_k", "stop_sequences"])
def test_what_a_form_cannot_express_is_refused_by_its_name(stage: Stage, members: dict[str, Any]) -> None:
    alias, caller = model_of(stage, "responses"), stage.caller()
    answer = send(caller, alias, **members)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, next(iter(members)))
    assert (caller.calls, stage.upstream.ledger.entries) == ([], [])


def test_the_demo_says_at_which_sequence_it_stopped(stage: Stage, streams: bool) -> None:
    row = stage.upstream_row(adapter="demo", options={"token_seconds": 0})
    alias, caller = stage.model(upstream=row, price=PRICE), stage.caller()
    answer = send(caller, alias, streams=streams, stop_sequences=["badgers", "wrote", "demo"], top_k=5)
    message = message_in(answer, streams=streams)
    assert (message["stop_reason"], message["stop_sequence"]) == ("stop_sequence", "demo")
    assert message["content"][0]["text"] == "This is the gateway's "
    whole = message_in(send(caller, alias, streams=streams, stop_sequences=["nowhere"]), streams=streams)
    assert (whole["stop_reason"], whole["stop_sequence"]) == ("end_turn", None)
