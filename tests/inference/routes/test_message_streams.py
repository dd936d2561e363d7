"""Streams of odd shape from an upstream that speaks messages: clients get a stream that the vendor's SDK accepts, and what was
delivered is charged or waits for review."""

from collections.abc import Iterator
from typing import Any

import anthropic
import orjson
import pytest
from anthropic._streaming import SSEDecoder
from anthropic.lib.streaming._messages import accumulate_event

from tests.inference.adapters.test_openai_streams import FRAMINGS
from tests.inference.routes.scripted_upstream import Json, ScriptedUpstream
from tests.inference.routes.test_messages import FORMS, PRICE, events_in, model_of, send
from tests.support.stage import CHAT, RESPONSES, Caller, Stage, ask, chat

HEAD = {"id": "upstream_1", "type": "message", "role": "assistant", "model": "upstream-model", "stop_reason": None}
MESSAGE: Json = {**HEAD, "stop_sequence": None, "content": [], "usage": {"input_tokens": 30, "output_tokens": 1}}
START = {"type": "message_start", "message": MESSAGE}
LEAKS = ("upstream_1", "upstream_2", "upstream_3", "upstream-model")
STOP = {"type": "message_stop"}
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
TEXT = {"type": "text", "text": ""}
THINKING = {"type": "thinking", "thinking": "", "signature": ""}
TOOL = {"type": "tool_use", "id": "upstream_2", "name": "weather", "input": {}}


def begun(index: Any = 0, block: Any = TEXT) -> Json:
    return {"type": "content_block_start", "index": index, "content_block": block}


def said(index: Any = 0, **delta: Any) -> Json:
    delta = delta or {"type": "text_delta", "text": "hello "}
    return {"type": "content_block_delta", "index": index, "delta": delta}


def closed(index: Any = 0) -> Json:
    return {"type": "content_block_stop", "index": index}


def ended(usage: Any = None, reason: Any = "end_turn", **delta: Any) -> Json:
    told = {} if usage is None else {"usage": usage}
    return {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None, **delta}, **told}


def started(**members: Any) -> Json:
    return {**START, "message": {**MESSAGE, **members}}


BLOCK = [begun(), said(), said(), closed()]
END = [ended({"output_tokens": 9}), STOP]


MALFORMED: list[list[Any]] = [
    [START, START, *BLOCK, *END],
    [START, said(), *BLOCK, *END],
    [START, closed(), *BLOCK, *END],
    *([START, begun(at), said(at), closed(at), *END] for at in (2, -1, 10**12, "0", 0.0, True, None)),
    [START, *BLOCK, *BLOCK, *END],
    [START, *BLOCK, said(), *END],
    [START, begun(), said(), *END],
    [START, begun(0, None), *END],
    [START, begun(0, {"type": 7}), *END],
    [START, begun(0, {"type": "text"}), *END],
    [START, begun(0, {"type": "tool_use", "id": "x", "input": {}}), *END],
    [START, begun(0, {**TOOL, "input": "{}"}), *END],
    [START, begun(), {"type": "content_block_delta", "index": 0, "delta": None}, closed(), *END],
    [START, begun(), said(0, text="x"), closed(), *END],
    [START, begun(), said(0, type="text_delta", text=7), closed(), *END],
    [START, begun(0, THINKING), said(0, type="signature_delta", signature=None), closed(), *END],
    [START, *BLOCK, {"type": "message_delta", "usage": {"output_tokens": 9}}, STOP],
    [START, *BLOCK, ended([9]), STOP],
    *([START, *BLOCK, ended({"output_tokens": count}), STOP] for count in (-1, 10**18, 1e300, "9", True, 9.5)),
    [started(usage={"input_tokens": 10**10}), *BLOCK, *END],
    [START, {"type": "x\rdata: {}\r\r"}, *BLOCK, *END],
    [START, {"type": ""}, *BLOCK, *END],
    [START, ["x"], *BLOCK, *END],
]


@pytest.fixture(name="upstreams", scope="module")
def _upstreams() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as running:
        yield running


@pytest.fixture(name="alias")
def _alias(stage: Stage, upstreams: ScriptedUpstream) -> str:
    return stage.model(upstream=stage.upstream_row(adapter="anthropic", base_url=upstreams.base_url), price=PRICE)


def put_together(text: str) -> Any:
    """Return the message as the vendor's SDK puts it together, or the code of the error that it raises."""
    message, arguments = None, dict[int, bytes]()
    for event in SSEDecoder().iter_bytes(iter([text.encode()])):
        if event.event == "error":
            return orjson.loads(event.data)["error"]["code"]
        if event.event not in (None, "ping"):
            message = accumulate_event(event=orjson.loads(event.data), current_snapshot=message, json_bufs=arguments)
    assert isinstance(message, anthropic.types.Message)
    return message


def stream(upstreams: ScriptedUpstream, caller: Caller, alias: str, *events: Any) -> Any:
    upstreams.player.says = events
    answer = send(caller, alias, streams=True)
    assert answer.status_code == 200, answer.text
    assert not any(leak in answer.text for leak in LEAKS)
    return put_together(answer.text)


@pytest.mark.parametrize(
    ("events", "charged"),
    [
        ([START, *BLOCK, *END], (30, 9)),
        ([START, *BLOCK, ended({"output_tokens": 5}), ended({"output_tokens": 50}, None), STOP], (30, 50)),
        ([START, *BLOCK, ended({"output_tokens": 5}, None), ended({"output_tokens": 50}), STOP], (30, 50)),
        ([START, *BLOCK, ended({"output_tokens": 50}), ended({"output_tokens": 5}), STOP], (30, 5)),
        ([START, *BLOCK, ended({"input_tokens": 31, "output_tokens": 9}), STOP], (31, 9)),
        ([started(usage=None), *BLOCK, ended({"input_tokens": 30, "output_tokens": 9}), STOP], (30, 9)),
        ([START, *BLOCK, ended({"output_tokens": 9}, None), STOP], (30, 9)),
        ([START, *BLOCK, *END, OVERLOADED], (30, 9)),
        ([START, begun(0), begun(1), said(0), said(1), closed(1), closed(0), *END], (30, 9)),
        ([START, {"type": "ping"}, *BLOCK, {"type": "something_new"}, *END], (30, 9)),
        ([START, begun(0, {"type": "new"}), said(0, type="new_delta", x=1), closed(0), *END], (30, 9)),
    ],
    ids=[
        *("whole", "grows after its reason", "grows before its reason", "shrinks", "corrected input", "all at the end"),
        *("no reason", "an error after the end", "two open blocks", "new events", "new blocks"),
    ],
)
def test_the_last_counts_are_charged(
    stage: Stage, upstreams: ScriptedUpstream, alias: str, events: list[Json], charged: tuple[int, int]
) -> None:
    caller = stage.caller()
    message = stream(upstreams, caller, alias, *events)
    assert message.id.startswith("msg_")
    record = caller.only_call.usage_record
    assert (record.input_tokens, record.output_tokens, record.basis) == (*charged, "upstream")
    assert record.charge_microusd == charged[0] * 3 + charged[1] * 15


@pytest.mark.parametrize(
    "events",
    [
        [START, *BLOCK, ended(), STOP],
        [started(usage=None), *BLOCK, *END],
        [started(usage=None), *BLOCK, ended(), STOP],
        [START, *BLOCK, STOP],
    ],
    ids=["no counts at the end", "none at the beginning", "none at all", "no end of the message"],
)
@pytest.mark.parametrize("path", ["messages", CHAT, RESPONSES])
def test_the_output_counted_at_the_beginning_is_never_its_count(
    stage: Stage, upstreams: ScriptedUpstream, alias: str, events: list[Json], path: str
) -> None:
    caller = stage.caller()
    if path == "messages":
        assert stream(upstreams, caller, alias, *events).content[0].text == "hello hello "
    else:
        upstreams.player.says = events
        body = chat(alias, stream=True) if path == CHAT else ask(alias, stream=True)
        assert "hello" in caller.post(body, path=path).text
    call = caller.only_call
    assert (call.state, call.review_reason, call.evidence["output_tokens"]) == ("review", "usage_missing", 2)


def test_what_no_sdk_reads_breaks_the_stream(stage: Stage, upstreams: ScriptedUpstream, alias: str) -> None:
    for events in MALFORMED:
        caller = stage.caller()
        assert stream(upstreams, caller, alias, *events) == "upstream_invalid", events
        call = caller.only_call
        assert (call.state, caller.wallet["held"]) == ("review", call.hold_microusd), events


@pytest.mark.parametrize(
    "first",
    [
        *(begun(), said(), STOP, {"type": "something_new"}),
        {**START, "message": None},
        {**START, "message": []},
        started(content=[TEXT]),
        started(usage=[1]),
    ],
)
def test_a_stream_that_does_not_begin_with_its_message_is_refused(
    stage: Stage, upstreams: ScriptedUpstream, alias: str, first: Json
) -> None:
    upstreams.player.says, caller = [first, *BLOCK, *END], stage.caller()
    answer = send(caller, alias, streams=True)
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_invalid")
    assert caller.only_call.state == "review"


@pytest.mark.parametrize("path", ["messages", CHAT, RESPONSES])
def test_an_overload_as_first_event_is_tried_again_and_then_released(
    stage: Stage, upstreams: ScriptedUpstream, alias: str, path: str
) -> None:
    upstreams.player.says, upstreams.player.requests, caller = [OVERLOADED], [], stage.caller()
    body = {"messages": lambda: None, CHAT: lambda: chat(alias), RESPONSES: lambda: ask(alias)}[path]()
    answer = caller.post({**body, "stream": True}, path=path) if body else send(caller, alias, streams=True)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "upstream_overloaded")
    assert (caller.only_call.state, len(upstreams.player.requests)) == ("released", 3)


def test_what_the_upstream_says_of_its_costs_and_containers_stays_here(
    stage: Stage, upstreams: ScriptedUpstream, alias: str
) -> None:
    caller = stage.caller()
    first = started(usage={**MESSAGE["usage"], "cost": 1}, container={"id": "upstream_3"})
    last = ended({"output_tokens": 9, "cost": 2, "is_byok": True}, container={"id": "upstream_3"})
    message = stream(upstreams, caller, alias, first, *BLOCK, last, STOP)
    assert message.container is None
    assert not {"cost", "is_byok"} & message.usage.to_dict().keys()


def test_tool_uses_have_our_ids(stage: Stage, upstreams: ScriptedUpstream, alias: str) -> None:
    argued = said(0, type="input_json_delta", partial_json='{"place":"here"}')
    calls = [begun(0, TOOL), argued, closed(0), begun(1, {**TOOL, "input": None}), closed(1)]
    message = stream(upstreams, stage.caller(), alias, START, *calls, ended({"output_tokens": 9}, "tool_use"), STOP)
    assert [use.input for use in message.content] == [{"place": "here"}, {}]
    assert [use.id for use in message.content] == [f"toolu_{message.id[-26:]}_{at}" for at in (0, 1)]


def test_a_cut_closes_every_open_block(stage: Stage, upstreams: ScriptedUpstream, alias: str) -> None:
    upstreams.player.says = [START, begun(0), begun(1, THINKING), *[said(0)] * 50]
    caller = stage.caller()
    answer = send(caller, alias, streams=True, max_tokens=5)
    kinds = [(event["type"], event.get("index")) for event in events_in(answer.text)[-4:]]
    assert kinds == [
        ("content_block_stop", 0),
        ("content_block_stop", 1),
        ("message_delta", None),
        ("message_stop", None),
    ]
    message, record = put_together(answer.text), caller.only_call.usage_record
    assert (message.stop_reason, record.basis) == ("max_tokens", "delivered")
    assert (message.usage.input_tokens, message.usage.output_tokens) == (30, 5)
    assert (record.input_tokens, record.output_tokens) == (30, 5)


@pytest.mark.parametrize("form", FORMS)
def test_every_framing_gives_the_same_message(stage: Stage, form: str) -> None:
    caller, text = stage.caller(), "naïve 日本語 🙂🙃 fin"
    for framing in FRAMINGS:
        alias = model_of(stage, form, f"{framing}?text={text.replace(' ', '+')}")
        message = put_together(send(caller, alias, streams=True).text)
        assert [block.text for block in message.content] == [text], framing
        assert message.usage.output_tokens == 4
    assert {call.state for call in caller.calls} == {"settled"}
