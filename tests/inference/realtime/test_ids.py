"""The ids of a session's events: clients see the gateway's own and may name them; the upstream sees its own."""

import json
from typing import Any

import pytest

from gateway.core.contract.errors import InvalidRequest
from inference.routes.realtime.ids import EVENT_IDS_MAX, IDS_MAX, Ids
from tests.inference.realtime.test_sessions import HELLO, cost
from tests.support.sessions import SILENCE, Session, live_model, opened, settled, talker, upstream_session
from tests.support.stage import Stage

MESSAGE = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": HELLO}]}


def created(session: Session, **item: Any) -> str:
    """Add an item and return its id."""
    session.send("conversation.item.create", item={**MESSAGE, **item})
    return str(session.until("conversation.item.done")["item"]["id"])


@pytest.mark.parametrize("in_binary", [False, True])
def test_no_id_of_the_upstream_reaches_the_client(stage: Stage, in_binary: bool) -> None:
    caller, alias = talker(stage), live_model(stage)
    stage.upstream.realtime.manners.in_binary = in_binary
    with opened(caller, alias) as session:
        session.say(HELLO)
        session.speak()
        session.speak(SILENCE)
        session.until("response.done")
    assert "upstream_" not in json.dumps(session.seen)
    events = [event["event_id"] for event in session.seen]
    assert len(set(events)) == len(events)
    assert all(event_id.startswith("event_") for event_id in events)


def test_an_event_in_a_binary_frame_is_counted(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    stage.upstream.realtime.manners.in_binary = True
    with opened(caller, alias) as session:
        session.say(HELLO)
    assert settled(caller).charge_microusd == cost(4, 0, 8)


def test_an_id_is_the_same_in_all_events(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias) as session:
        first, second = (session.say(HELLO)["response"]["id"] for _ in range(2))
    named = [event["response"]["id"] for event in session.seen if "response" in event]
    assert named == [first, first, second, second]
    assert {event["response_id"] for event in session.seen if "response_id" in event} == {first, second}
    assert first.startswith("resp_")
    items = [event["item"]["id"] for event in session.seen if "item" in event]
    assert items[0] == items[1] != items[2] == items[3]
    assert items[0].startswith("item_")


def test_a_client_names_what_it_was_shown(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias) as session:
        first = created(session)
        session.send("conversation.item.create", item=MESSAGE, previous_item_id=first)
        session.send("response.create", response={"input": [{"type": "item_reference", "id": first}]})
        session.until("response.done")
        session.send("conversation.item.delete", item_id=first)
        assert session.until("conversation.item.deleted")["item_id"] == first
    sent = upstream_session(stage)
    theirs = "item_upstream_1"
    assert [event["item_id"] for event in sent.of("conversation.item.delete")] == [theirs]
    assert sent.of("conversation.item.create")[1]["previous_item_id"] == theirs
    assert sent.of("response.create")[0]["response"]["input"] == [{"type": "item_reference", "id": theirs}]


def test_a_client_cancels_the_response_that_it_names(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    stage.upstream.realtime.gate.clear()
    with opened(caller, alias) as session:
        session.send("response.create")
        response_id = session.until("response.created")["response"]["id"]
        session.send("response.cancel", response_id=response_id)
        done = session.until("response.done")["response"]
        assert (done["id"], done["status"]) == (response_id, "cancelled")
    assert upstream_session(stage).of("response.cancel")[0]["response_id"] == "resp_upstream_1"


def test_an_id_that_the_client_chose_stays_its_own(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias) as session:
        assert created(session, id="mine") == "mine"
        session.send("conversation.item.delete", item_id="mine")
        assert session.until("conversation.item.deleted")["item_id"] == "mine"
    assert upstream_session(stage).of("conversation.item.create")[0]["item"]["id"] == "mine"


def test_an_unknown_id_gets_the_upstreams_error_in_our_words(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias) as session:
        session.send("conversation.item.delete", item_id="item_unknown", event_id="mine")
        error = session.until("error")["error"]
    assert error == {
        "type": "invalid_request_error",
        "code": "item_not_found",
        "message": "There is no such item.",
        "param": None,
        "event_id": "mine",
    }
    assert upstream_session(stage).of("conversation.item.delete")[0]["item_id"] == "item_unknown"


def test_an_error_names_no_event_that_the_client_did_not_send(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    error = {"type": "invalid_request_error", "code": "unknown_parameter", "event_id": "evt_upstream_7"}
    stage.upstream.realtime.manners.first = [json.dumps({"type": "error", "event_id": "e", "error": error})]
    with opened(caller, alias) as session:
        assert session.until("error")["error"]["event_id"] is None


def test_a_function_call_is_answered_by_the_id_that_the_client_was_shown(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    item = {
        "id": "item_upstream_9",
        "type": "function_call",
        "call_id": "call_upstream_9",
        "name": "f",
        "arguments": "{}",
    }
    stage.upstream.realtime.manners.first = [
        json.dumps({"type": "response.output_item.done", "response_id": "r", "output_index": 0, "item": item})
    ]
    with opened(caller, alias) as session:
        call_id = session.until("response.output_item.done")["item"]["call_id"]
        output = {"type": "function_call_output", "call_id": call_id, "output": "7"}
        session.send("conversation.item.create", item=output)
        assert session.until("conversation.item.done")["item"]["call_id"] == call_id
        session.say(HELLO)
    assert "upstream_" not in json.dumps(session.seen)
    assert upstream_session(stage).of("conversation.item.create")[0]["item"]["call_id"] == "call_upstream_9"
    assert settled(caller).charge_microusd == cost(4, 0, 8)


@pytest.mark.parametrize(
    ("event", "param"),
    [
        ({"item_id": "x" * 513}, "item_id"),
        ({"item": {"id": "x" * 513}}, "item.id"),
        ({"response": {"input": [{}, {"call_id": "x" * 513}]}}, "response.input.1.call_id"),
    ],
)
def test_an_id_that_is_too_long_is_refused_by_name(event: dict[str, Any], param: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        Ids().for_upstream(event)
    assert refused.value.param == param


def test_what_is_no_id_stays_as_it_is() -> None:
    event = {
        "type": "response.done",
        "response": {"metadata": {"id": "a", "customer_id": "b"}, "output": [{"content": [{"text": "id"}]}, 5]},
        "item": None,
        "item_id": None,
        "previous_item_id": "",
        "part": {"type": "text", "id_of": 7},
    }
    shown = Ids().for_client(event)
    assert shown.pop("event_id").startswith("event_")
    assert shown == event


def test_only_the_ids_used_last_are_remembered() -> None:
    ids = Ids()
    first, latest = (ids.for_client({"item_id": theirs})["item_id"] for theirs in ("first", "kept"))
    for number in range(IDS_MAX - 1):
        ids.for_upstream({"item_id": f"client {number}", "event_id": f"event {number}"})
        assert ids.for_client({"item_id": "kept"})["item_id"] == latest
    assert ids.for_upstream({"item_id": latest})["item_id"] == "kept"
    assert ids.for_upstream({"item_id": first})["item_id"] == first
    assert len(ids._to_client._known) == len(ids._to_upstream._known) == IDS_MAX
    assert len(ids._client_events._known) == EVENT_IDS_MAX
