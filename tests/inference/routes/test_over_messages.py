"""Chat completions and responses at an upstream that supports only messages."""

from typing import Any

import orjson
import pytest

from tests.support.stage import CHAT, RESPONSES, Stage, ask, chat

PRICE = {"input_token": "3", "cached_input_token": "0.3", "output_token": "15"}
FUNCTION = {
    "name": "weather",
    "description": "Tell the weather.",
    "parameters": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
}
BODIES = {CHAT: chat, RESPONSES: ask}


@pytest.fixture(params=[False, True], ids=["json", "stream"], name="streams")
def _streams(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture(params=[CHAT, RESPONSES], name="path")
def _path(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def model_of(stage: Stage, model: str = "small-1") -> str:
    return stage.model(model, upstream=stage.upstream_row(adapter="anthropic"), price=PRICE, max_output_tokens=200)


def text_in(answer: Any, *, streams: bool) -> str:
    assert answer.status_code == 200, answer.text
    if not streams:
        body = answer.json()
        return str(
            body["choices"][0]["message"]["content"] if "choices" in body else body["output"][-1]["content"][0]["text"]
        )
    events = [orjson.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: {")]
    pieces = [event["choices"][0]["delta"].get("content") or "" for event in events if event.get("choices")]
    return "".join(pieces) + "".join(e["delta"] for e in events if e.get("type") == "response.output_text.delta")


def test_an_answer_is_translated_and_charged(stage: Stage, path: str, streams: bool) -> None:
    alias, caller = model_of(stage, "small-1?tokens=4&cached_tokens=3"), stage.caller()
    answer = caller.post(BODIES[path](alias, stream=streams), path=path)
    assert text_in(answer, streams=streams) == "the quick brown fox"
    [entry] = stage.upstream.ledger.entries
    assert entry.path == "/messages"
    assert (entry.headers["anthropic-version"], entry.body["max_tokens"]) == ("2023-06-01", 200)
    call = caller.only_call
    assert (call.state, call.usage_record.input_tokens) == ("settled", entry.prompt_tokens)
    assert (call.usage_record.cached_input_tokens, call.usage_record.output_tokens) == (3, 4)
    assert call.charge_microusd == -(-((entry.prompt_tokens - 3) * 30 + 9 + 600) // 10)


def test_functions_become_tools(stage: Stage, path: str, streams: bool) -> None:
    alias, caller = model_of(stage), stage.caller()
    tool = {"type": "function", "function": FUNCTION} if path == CHAT else {"type": "function", **FUNCTION}
    answer = caller.post(BODIES[path](alias, stream=streams, tools=[tool], parallel_tool_calls=False), path=path)
    assert answer.status_code == 200, answer.text
    assert "Reykjav" in answer.text
    assert '"name":"weather"' in answer.text
    sent = stage.upstream.ledger.entries[0].body
    assert sent["tools"][0]["input_schema"] == FUNCTION["parameters"]
    assert sent["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}


def test_a_stream_without_an_end_waits_for_review(stage: Stage, path: str) -> None:
    alias, caller = model_of(stage, "small-1?done=false"), stage.caller()
    answer = caller.post(BODIES[path](alias, stream=True), path=path)
    assert "upstream_error" in answer.text
    assert caller.only_call.state == "review"


@pytest.mark.parametrize(
    ("path", "members", "param"),
    [
        (CHAT, {"temperature": 1.5}, "temperature"),
        (CHAT, {"n": 2}, "n"),
        (CHAT, {"logprobs": True}, "logprobs"),
        (CHAT, {"response_format": {"type": "json_object"}}, "response_format"),
        (CHAT, {"frequency_penalty": 1}, "frequency_penalty"),
        (CHAT, {"seed": 7}, "seed"),
        (CHAT, {"messages": [{"role": "user", "content": "a"}, {"role": "system", "content": "b"}]}, "messages.1.role"),
        (RESPONSES, {"temperature": 1.5}, "temperature"),
        (RESPONSES, {"text": {"verbosity": "low"}}, "text.verbosity"),
    ],
)
def test_what_messages_cannot_express_is_refused(stage: Stage, path: str, members: dict[str, Any], param: str) -> None:
    alias, caller = model_of(stage), stage.caller()
    answer = caller.post(BODIES[path](alias, **members), path=path)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, param)
    assert (caller.calls, stage.upstream.ledger.entries) == ([], [])
