"""Text routes at upstreams that know only the other one: the same answers, the same money, the same refusals."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson
import pytest

from inference.models import Deployment
from inference.queries import catalogue
from tests.inference.translation.recorded_upstream import RecordedUpstream
from tests.inference.translation.recordings import RECORDINGS, TOKEN
from tests.support.stage import CHAT, RESPONSES, Caller, Stage, ask, chat
from tests.support.upstream import LEAKS
from tests.support.upstream.tokens import count_text

READ = ("infer:*", "responses:read")
COST_OF_A_RECORDING = 8
"""4 plain and 16 cached tokens of input and 9 of output: 0.6 + 1.2 + 5.4 micro-USD, rounded up once."""


@dataclass(frozen=True)
class Direction:
    """A route, and what its upstream knows instead."""

    path: str
    known: str
    upstream_path: str

    def body(self, alias: str, **members: Any) -> dict[str, Any]:
        return (chat if self.path == CHAT else ask)(alias, **members)

    @property
    def limit(self) -> str:
        return "max_completion_tokens" if self.path == CHAT else "max_output_tokens"

    def model(self, stage: Stage, model: str = "small-1", **fields: Any) -> str:
        row = {"options": {"routes": [self.known]}} | fields.pop("row", {})
        return stage.model(model, upstream=stage.upstream_row(**row), **{"max_output_tokens": 100, **fields})


TO_CHAT = Direction(RESPONSES, "chat.completions", "/chat/completions")
TO_RESPONSES = Direction(CHAT, "responses", "/responses")
BOTH = pytest.mark.parametrize("way", [TO_CHAT, TO_RESPONSES], ids=["responses-by-chat", "chat-by-responses"])


@pytest.fixture(scope="module")
def recorded() -> Iterator[RecordedUpstream]:
    with RecordedUpstream() as running:
        yield running


def events_of(caller: Caller, way: Direction, body: dict[str, Any]) -> tuple[list[dict[str, Any]], Any]:
    """Read a whole stream: its events and its receipt."""
    with caller.stream(body, path=way.path) as answer:
        assert answer.status_code == 200, answer.read()
        text = answer.read().decode()
    assert not [leak for leak in LEAKS if leak in text]
    *blocks, receipt, rest = text.split("\n\n")
    assert rest == ""
    if way.path == CHAT:
        assert blocks.pop() == "data: [DONE]"
    events = [orjson.loads(block.rpartition("data: ")[2]) for block in blocks]
    return events, orjson.loads(receipt.removeprefix(": service "))


@BOTH
def test_an_answer_is_held_translated_and_charged_exactly(stage: Stage, way: Direction) -> None:
    alias, caller = way.model(stage), stage.caller(balance=1_000)
    answer = caller.post(way.body(alias), path=way.path)
    assert answer.status_code == 200, answer.text
    [entry] = stage.upstream.ledger
    assert (entry.path, entry.model, entry.stream) == (way.upstream_path, "small-1", False)
    tokens = count_text("Say something about badgers.")
    call, cost = caller.only_call, -(-(tokens * 150 + 16 * 600) // 1000)
    assert answer.headers["x-service-charge-microusd"] == str(cost)
    assert (call.state, call.charge_microusd) == ("settled", cost)
    assert caller.wallet == {"balance": 1_000 - cost, "held": 0, "debt": 0}
    assert answer.json()["model"] == alias
    assert not [leak for leak in LEAKS if leak in answer.text]


def test_a_response_asks_a_chat_and_nothing_else(stage: Stage) -> None:
    alias, caller = TO_CHAT.model(stage), stage.caller()
    caller.post(ask(alias, instructions="Be brief.", metadata={"a": "b"}, temperature=0.5), path=RESPONSES)
    [entry] = stage.upstream.ledger
    assert entry.body == {
        "model": "small-1",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Say something about badgers."},
        ],
        "temperature": 0.5,
        "max_completion_tokens": 100,
        "service_tier": "default",
    }


def test_a_chat_asks_for_a_response_that_is_not_stored(stage: Stage) -> None:
    alias, caller = TO_RESPONSES.model(stage), stage.caller()
    caller.post(chat(alias, temperature=0.5, n=1))
    [entry] = stage.upstream.ledger
    assert entry.body == {
        "model": "small-1",
        "input": [{"type": "message", "role": "user", "content": "Say something about badgers."}],
        "temperature": 0.5,
        "max_output_tokens": 100,
        "store": False,
        "service_tier": "default",
    }


def test_an_older_upstream_gets_the_limit_under_its_older_name(stage: Stage) -> None:
    options = {"routes": ["chat.completions"], "output_limit_field": "max_tokens"}
    alias, caller = TO_CHAT.model(stage, row={"options": options}), stage.caller()
    caller.post(ask(alias), path=RESPONSES)
    [entry] = stage.upstream.ledger
    assert entry.body["max_tokens"] == 100
    assert "max_completion_tokens" not in entry.body


def test_a_translated_response_is_stored_and_continued_from(stage: Stage) -> None:
    alias, caller = TO_CHAT.model(stage), stage.caller(scopes=READ)
    first = caller.post(ask(alias), path=RESPONSES).json()
    assert caller.get(f"{RESPONSES}/{first['id']}").json() == first
    second = caller.post(ask(alias, previous_response_id=first["id"]), path=RESPONSES)
    assert second.json()["previous_response_id"] == first["id"]
    answer = first["output"][0]["content"][0]["text"]
    question = "Say something about badgers."
    assert list(stage.upstream.ledger)[-1].body["messages"] == [
        {"role": "user", "content": question},
        {"role": "assistant", "content": answer},
        {"role": "user", "content": question},
    ]


def test_a_translated_stream_of_a_response_is_numbered_stored_and_charged(stage: Stage) -> None:
    alias, caller = TO_CHAT.model(stage), stage.caller(scopes=READ)
    events, receipt = events_of(caller, TO_CHAT, ask(alias))
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    last = events[-1]
    assert last["type"] == "response.completed"
    assert last["response"]["usage"]["output_tokens"] == 16
    assert (
        "".join(event["delta"] for event in events if "delta" in event)
        == (last["response"]["output"][0]["content"][0]["text"])
    )
    call = caller.only_call
    assert (call.state, receipt["charge_microusd"]) == ("settled", call.charge_microusd)
    assert caller.get(f"{RESPONSES}/{last['response']['id']}").json() == last["response"]


@pytest.mark.parametrize("shown", [True, False])
def test_a_translated_stream_of_a_chat_shows_its_usage_on_request(stage: Stage, shown: bool) -> None:
    alias, caller = TO_RESPONSES.model(stage), stage.caller()
    events, receipt = events_of(caller, TO_RESPONSES, chat(alias, stream_options={"include_usage": shown}))
    assert [bool(event.get("usage")) for event in events if "usage" in event] == (
        [False] * 18 + [True] if shown else []
    )
    assert receipt["charge_microusd"] == caller.only_call.charge_microusd > 0
    assert {event["model"] for event in events} == {alias}
    assert len({event["id"] for event in events}) == 1


def content_of(way: Direction, answer: dict[str, Any]) -> Any:
    """Return what an answer says, its calls, its reasoning and how it ended, in one shape for both forms."""
    if way.path == CHAT:
        [choice] = answer["choices"]
        message = choice["message"]
        calls = [(call["function"]["name"], call["function"]["arguments"]) for call in message.get("tool_calls") or ()]
        ended = {"tool_calls": "stop"}.get(choice["finish_reason"], choice["finish_reason"])
        return message["content"], message["refusal"], message.get("reasoning_content"), calls, ended
    parts = [part for item in answer["output"] if item["type"] == "message" for part in item["content"]]
    texts = [part["text"] for part in parts if part["type"] == "output_text"]
    refusals = [part["refusal"] for part in parts if part["type"] == "refusal"]
    thoughts = [item["content"][0]["text"] for item in answer["output"] if item["type"] == "reasoning"]
    calls = [(item["name"], item["arguments"]) for item in answer["output"] if item["type"] == "function_call"]
    reason = (answer["incomplete_details"] or {}).get("reason")
    ended = {None: "stop", "max_output_tokens": "length"}.get(reason, reason)
    return *(("".join(each) if each else None) for each in (texts, refusals, thoughts)), calls, ended


CONTENT: dict[str, Any] = {
    "text": ("Hello wörld \U0001f30d", None, None, [], "stop"),
    "nothing": (None, None, None, [], "stop"),
    "structured": ('{"city":"Rome"}', None, None, [], "stop"),
    "refusal": (None, "I must not.", None, [], "stop"),
    "calls": ("Wait.", None, None, [("weather", '{"city":"Rome"}'), ("weather", '{"city":"Bern"}')], "stop"),
    "reasoning": ("Hello", None, "Hm, yes.", [], "stop"),
    "length": ('{"city":', None, None, [], "length"),
    "filter": ('{"city":', None, None, [], "content_filter"),
    "logprobs": ("Hello", None, None, [], "stop"),
}


@BOTH
@pytest.mark.parametrize("name", RECORDINGS)
def test_every_kind_of_answer_comes_over_whole(
    stage: Stage, recorded: RecordedUpstream, way: Direction, name: str
) -> None:
    alias, caller = way.model(stage, name, row={"base_url": recorded.base_url}), stage.caller()
    answer = caller.post(way.body(alias), path=way.path)
    assert answer.status_code == 200, answer.text
    assert content_of(way, answer.json()) == CONTENT[name]
    usage = answer.json()["usage"]
    parts = ("prompt", "completion") if way.path == CHAT else ("input", "output")
    assert usage[f"{parts[0]}_tokens_details"]["cached_tokens"] == 16
    assert usage[f"{parts[1]}_tokens_details"]["reasoning_tokens"] == (5 if name == "reasoning" else 0)
    assert caller.only_call.charge_microusd == COST_OF_A_RECORDING
    assert recorded.player.requests[-1][0] == way.upstream_path


@BOTH
@pytest.mark.parametrize("name", RECORDINGS)
def test_every_kind_of_answer_comes_over_in_a_stream(
    stage: Stage, recorded: RecordedUpstream, way: Direction, name: str
) -> None:
    alias, caller = way.model(stage, name, row={"base_url": recorded.base_url}), stage.caller()
    body = way.body(alias, **({"stream_options": {"include_usage": True}} if way.path == CHAT else {}))
    events, receipt = events_of(caller, way, body)
    assert content_of(way, added_up(events) if way.path == CHAT else events[-1]["response"]) == CONTENT[name]
    assert receipt["charge_microusd"] == caller.only_call.charge_microusd == COST_OF_A_RECORDING


def added_up(chunks: list[dict[str, Any]]) -> dict[str, Any]:
    """Add the chunks of a chat up to its completion."""
    message: dict[str, Any] = {"content": None, "refusal": None, "tool_calls": []}
    for delta in [chunk["choices"][0]["delta"] for chunk in chunks if chunk["choices"]]:
        for name in ("content", "refusal", "reasoning_content"):
            if delta.get(name):
                message[name] = (message.get(name) or "") + delta[name]
        for call in delta.get("tool_calls", ()):
            if "id" in call:
                message["tool_calls"].append({"function": dict(call["function"])})
            else:
                message["tool_calls"][call["index"]]["function"]["arguments"] += call["function"]["arguments"]
    reasons = [chunk["choices"][0]["finish_reason"] for chunk in chunks if chunk["choices"]]
    assert reasons[:-1] == [None] * (len(reasons) - 1)
    return {"choices": [{"message": message, "finish_reason": reasons[-1]}]}


@BOTH
def test_log_probabilities_come_over(stage: Stage, recorded: RecordedUpstream, way: Direction) -> None:
    alias, caller = way.model(stage, "logprobs", row={"base_url": recorded.base_url}), stage.caller()
    members = {"logprobs": True} if way.path == CHAT else {"include": ["message.output_text.logprobs"]}
    answer = caller.post(way.body(alias, **members), path=way.path).json()
    if way.path == CHAT:
        assert answer["choices"][0]["logprobs"] == {"content": [TOKEN], "refusal": None}
        assert recorded.player.requests[-1][1]["include"] == ["message.output_text.logprobs"]
    else:
        assert answer["output"][0]["content"][0]["logprobs"] == [TOKEN]
        assert recorded.player.requests[-1][1]["logprobs"] is True


REFUSED = [
    (TO_RESPONSES, {"n": 2}, "n"),
    (TO_RESPONSES, {"seed": 7}, "seed"),
    (TO_RESPONSES, {"stop": ["x"]}, "stop"),
    (TO_RESPONSES, {"messages": [{"role": "user", "name": "Bob", "content": "hello"}]}, "messages.0.name"),
    (TO_CHAT, {"truncation": "auto"}, "truncation"),
    (TO_CHAT, {"include": ["reasoning.encrypted_content"]}, "include.0"),
    (TO_CHAT, {"reasoning": {"summary": "auto"}}, "reasoning.summary"),
    (TO_CHAT, {"tools": [{"type": "custom", "name": "x"}]}, "tools.0.type"),
]


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize(("way", "members", "param"), REFUSED, ids=[row[2] for row in REFUSED])
def test_what_the_upstream_has_no_words_for_is_refused_before_anything_is_held(
    stage: Stage, way: Direction, members: dict[str, Any], param: str, streams: bool
) -> None:
    alias, caller = way.model(stage), stage.caller(balance=1_000)
    answer = caller.post(way.body(alias, stream=streams, **members), path=way.path)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (400, "invalid_request", param)
    assert list(stage.upstream.ledger) == []
    assert caller.calls == []
    assert caller.wallet == {"balance": 1_000, "held": 0, "debt": 0}


def test_a_request_goes_to_the_deployment_that_has_words_for_it(stage: Stage) -> None:
    alias, caller = TO_RESPONSES.model(stage), stage.caller()
    Deployment.objects.create(alias_id=alias_id(alias), upstream=stage.upstream_row(), model="small-2", priority=1)
    catalogue.forget()
    assert caller.post(chat(alias, seed=7)).status_code == 200
    assert caller.post(chat(alias)).status_code == 200
    assert [(entry.path, entry.model) for entry in stage.upstream.ledger] == [
        ("/chat/completions", "small-2"),
        ("/responses", "small-1"),
    ]


def alias_id(name: str) -> int:
    from inference.models import Alias

    return int(Alias.objects.get(name=name).pk)


@BOTH
def test_an_upstream_that_knows_neither_serves_neither(stage: Stage, way: Direction) -> None:
    alias, caller = way.model(stage, row={"options": {"routes": ["embeddings"]}}), stage.caller()
    answer = caller.post(way.body(alias), path=way.path)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "model_unavailable")


@BOTH
def test_an_upstream_that_knows_both_gets_an_untranslated_request(stage: Stage, way: Direction) -> None:
    alias = way.model(stage, row={"options": {"routes": ["chat.completions", "responses"]}})
    stage.caller().post(way.body(alias), path=way.path)
    [entry] = stage.upstream.ledger
    assert f"/v1{entry.path}" == way.path


@BOTH
@pytest.mark.parametrize(
    ("of_chat", "of_responses"),
    [
        ("messages", "input"),
        ("max_completion_tokens", "max_output_tokens"),
        ("response_format.json_schema", "text"),
        ("tools[0].name", "tools"),
        ("temperature", "temperature"),
    ],
)
def test_an_upstreams_refusal_names_the_member_as_the_client_does(
    stage: Stage, way: Direction, of_chat: str, of_responses: str
) -> None:
    named = {CHAT: of_chat.partition(".")[0].partition("[")[0], RESPONSES: of_responses}
    param_of = {"responses": of_responses, "chat.completions": of_chat}
    alias, caller = way.model(stage), stage.caller()
    stage.upstream.script("reject-parameter", path=f"/v1{way.upstream_path}", error_param=param_of[way.known])
    error = caller.post(way.body(alias), path=way.path).json()["error"]
    assert (error["code"], error["param"]) == ("invalid_request", named[way.path])


@BOTH
def test_a_stream_is_cut_at_the_ceiling(stage: Stage, way: Direction) -> None:
    alias, caller = way.model(stage, "endless", max_output_tokens=8), stage.caller()
    events, receipt = events_of(caller, way, way.body(alias))
    if way.path == CHAT:
        assert events[-1]["choices"][0]["finish_reason"] == "length"
    else:
        assert events[-1]["type"] == "response.incomplete"
        assert events[-1]["response"]["incomplete_details"] == {"reason": "max_output_tokens"}
        assert events[-1]["response"]["output"][0]["content"][0]["text"].startswith("the quick brown")
    call = caller.only_call
    assert (call.state, call.charge_microusd) == ("settled", receipt["charge_microusd"])
    assert call.charge_microusd <= call.hold_microusd


@BOTH
def test_an_upstream_that_answers_a_stream_in_one_piece_is_streamed(stage: Stage, way: Direction) -> None:
    alias, caller = way.model(stage, "swapped"), stage.caller()
    events, receipt = events_of(caller, way, way.body(alias))
    text = "".join(
        event["choices"][0]["delta"].get("content") or "" if way.path == CHAT else event.get("delta", "")
        for event in events
    )
    assert text.startswith("the quick brown")
    assert receipt["charge_microusd"] == caller.only_call.charge_microusd


MISBEHAVIOURS = [
    *("bad-gateway", "cut-before-headers", "cut-mid-body", "empty-body", "forbidden", "garbage-json"),
    *("hang-before-headers", "hang-mid-body", "huge-headers", "json-array", "missing-model", "overloaded"),
    *("rate-limited", "reject-content-policy", "reject-too-large", "secret-error", "truncated-json", "unauthorized"),
    *("unavailable", "usage-boolean", "usage-fractional", "usage-huge", "usage-infinite", "usage-missing"),
    *("usage-negative", "usage-null", "usage-over-cap", "usage-partial", "usage-string", "wrong-type"),
]
IN_A_STREAM = [
    *("cut-first-event", "cut-mid-event", "cut-mid-stream", "error-event", "hang-first-event", "sse-bytewise"),
    *("sse-comments", "sse-crlf", "sse-multiline", "sse-split-lines", "sse-split-utf8", "usage-boolean"),
    *("usage-missing", "usage-negative", "usage-null", "usage-over-cap", "usage-string", "secret-error", "overloaded"),
]


def outcome(stage: Stage, way: Direction, preset: str, *, known: str, streams: bool) -> Any:
    """Return what a caller and the ledger get of a preset at an upstream that knows one route."""
    # A stream's first event has to come in time on a busy machine, too.
    patience_seconds = (2 if streams else 0.4) if "hang" in preset else 30
    row = {"options": {"routes": [known]}, "timeout_seconds": patience_seconds}
    alias, caller = way.model(stage, preset, row=row, max_output_tokens=20), stage.caller(balance=5_000)
    answer = caller.post(way.body(alias, stream=streams), path=way.path)
    text = answer.text + str(answer.headers)
    assert not [leak for leak in LEAKS if leak in text]
    call = caller.only_call
    code = None if answer.status_code == 200 else answer.json()["error"]["code"]
    ends = [line for line in answer.text.split("\n\n") if '"error":{"code"' in line]
    error = orjson.loads(ends[0].rpartition("data: ")[2])["error"]["code"] if streams and ends else None
    charged = answer.headers.get("x-service-charge-microusd")
    return answer.status_code, code, error, charged, call.state, call.charge_microusd, caller.wallet


@BOTH
@pytest.mark.parametrize("preset", MISBEHAVIOURS)
def test_an_upstream_misbehaves_with_the_same_outcome_as_where_it_is_not_translated(
    stage: Stage, way: Direction, preset: str
) -> None:
    own = "chat.completions" if way.path == CHAT else "responses"
    translated = outcome(stage, way, preset, known=way.known, streams=False)
    assert translated == outcome(stage, way, preset, known=own, streams=False)


@BOTH
@pytest.mark.parametrize("preset", IN_A_STREAM)
def test_a_stream_misbehaves_with_the_same_outcome_as_where_it_is_not_translated(
    stage: Stage, way: Direction, preset: str
) -> None:
    own = "chat.completions" if way.path == CHAT else "responses"
    translated = outcome(stage, way, preset, known=way.known, streams=True)
    assert translated == outcome(stage, way, preset, known=own, streams=True)
