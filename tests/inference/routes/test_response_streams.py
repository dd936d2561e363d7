"""`POST /v1/responses` as a stream: the vendor's events, its end, and what is stored of it."""

from typing import Any

import orjson
import pytest

from tests.inference.routes.test_responses import CALLED, READ, cost_of
from tests.support.stage import RESPONSES, Caller, Stage, ask
from tests.support.upstream import LEAKS

PLAIN = [
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.completed",
]


def stream(caller: Caller, body: dict[str, Any], **options: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Read a whole stream: its events, each checked against its name, and its receipt."""
    with caller.stream(body, path=RESPONSES, **options) as answer:
        assert answer.status_code == 200, answer.read()
        *blocks, receipt, rest = answer.read().decode().split("\n\n")
    assert rest == ""
    events = []
    for block in blocks:
        name, data = block.split("\n")
        event = orjson.loads(data.removeprefix("data: "))
        assert name == f"event: {event['type']}"
        events.append(event)
    assert not [leak for leak in LEAKS if leak in "".join(blocks)]
    return events, orjson.loads(receipt.removeprefix(": service "))


def kinds(events: list[dict[str, Any]]) -> list[str]:
    """Name the events, a run of equal ones once."""
    names = [event["type"] for event in events]
    return [name for place, name in enumerate(names) if place == 0 or names[place - 1] != name]


@pytest.mark.parametrize("adapter", ["openai", "demo"])
def test_a_stream_has_the_vendors_events_in_the_vendors_order(stage: Stage, adapter: str) -> None:
    upstream = stage.upstream_row(**({"adapter": "demo", "options": {"token_seconds": 0}} if adapter == "demo" else {}))
    alias, caller = stage.model(upstream=upstream, max_output_tokens=100), stage.caller(scopes=READ)
    events, receipt = stream(caller, ask(alias))
    assert kinds(events) == PLAIN
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    text = "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")
    last = events[-1]["response"]
    [item] = last["output"]
    assert item["content"][0]["text"] == text
    assert {event["item_id"] for event in events if "item_id" in event} == {item["id"]}
    assert {event["response"]["id"] for event in events if "response" in event} == {last["id"]}
    assert all(event["response"]["store"] for event in events if "response" in event)
    call = caller.only_call
    assert receipt == {"usage_id": call.id, "charge_microusd": cost_of(last["usage"])}
    assert (call.state, call.charge_microusd) == ("settled", cost_of(last["usage"]))
    assert caller.get(f"{RESPONSES}/{last['id']}").json() == last


def test_a_streamed_call_of_a_function_adds_up(stage: Stage) -> None:
    alias, caller = stage.model(max_output_tokens=100), stage.caller()
    tool = {**CALLED, "parameters": {"type": "object", "required": ["city"]}}
    events, _ = stream(caller, ask(alias, tools=[tool]))
    [item] = events[-1]["response"]["output"]
    name = "response.function_call_arguments"
    assert "".join(event["delta"] for event in events if event["type"] == f"{name}.delta") == item["arguments"]
    assert item["call_id"].startswith("call_")


def test_a_stream_that_goes_on_beyond_its_limit_ends_incomplete_and_is_stored_so(stage: Stage) -> None:
    alias, caller = stage.model("endless", max_output_tokens=8), stage.caller(scopes=READ)
    events, receipt = stream(caller, ask(alias))
    last = events[-1]
    assert last["type"] == "response.incomplete"
    response = last["response"]
    assert (response["status"], response["incomplete_details"]) == ("incomplete", {"reason": "max_output_tokens"})
    assert response["output"][0]["content"][0]["text"].startswith("the quick brown")
    call = caller.only_call
    assert (call.state, call.charge_microusd) == ("settled", receipt["charge_microusd"])
    assert caller.get(f"{RESPONSES}/{response['id']}").json() == response


@pytest.mark.parametrize("preset", ["cut-mid-stream", "cut-mid-event", "error-event"])
def test_a_stream_that_breaks_off_fails_with_the_vendors_own_events(stage: Stage, preset: str) -> None:
    alias, caller = stage.model(preset, max_output_tokens=50), stage.caller(scopes=READ)
    events, receipt = stream(caller, ask(alias))
    error, last = events[-2:]
    assert (error["type"], error["code"], error["error"]["code"]) == ("error", "upstream_error", "upstream_error")
    assert (last["type"], last["response"]["status"]) == ("response.failed", "failed")
    assert last["response"]["error"]["code"] == "server_error"
    assert receipt["charge_microusd"] is None
    assert caller.only_call.state == "review"
    assert caller.get(f"{RESPONSES}/{last['response']['id']}").json() == last["response"]
