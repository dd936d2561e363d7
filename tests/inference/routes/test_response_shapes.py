"""An upstream whose responses have other shapes than the vendor's: no crash, and no hold that is left open."""

from collections.abc import Iterator
from typing import Any

import pytest

from inference.models import StoredResponse
from inference.routes.responses.progress import Progress
from tests.inference.routes.scripted_upstream import MESSAGE, ScriptedUpstream, added, events_of, response_of
from tests.inference.routes.test_response_streams import stream
from tests.inference.routes.test_responses import READ, cost_of, respond
from tests.support.stage import Caller, Stage, ask

FUNCTION_CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "status": "completed"}
EMPTY_PART = {"type": "output_text", "text": "", "annotations": []}

LEFT_EMPTY = {
    "a message without content": {"type": "message", "role": "assistant"},
    "content of null": {**MESSAGE, "content": None},
    "a part without text": {**MESSAGE, "content": [{"type": "output_text"}]},
    "a call without arguments": FUNCTION_CALL,
    "arguments of null": {**FUNCTION_CALL, "arguments": None},
    "a part of another kind": {**MESSAGE, "content": [{"type": "output_audio", "data": "AAAA"}]},
}
MALFORMED: dict[str, Any] = {
    "no object": "x",
    "no type": {"content": [{"type": "input_image"}]},
    "a type that is not text": {"type": []},
    "content that is a text": {**MESSAGE, "content": "x"},
    "parts that are texts": {**MESSAGE, "content": ["x"]},
    "a part whose type is not text": {**MESSAGE, "content": [{"type": []}]},
    "a part whose text is none": {**MESSAGE, "content": [{"type": "refusal", "refusal": 7}]},
    "arguments that are none": {**FUNCTION_CALL, "arguments": {}},
}
MALFORMED_EVENTS: dict[str, Any] = {
    "a first event without its response": {"type": "response.created"},
    "a last event without its response": {"type": "response.completed"},
    "an item event without its item": {"type": "response.output_item.added", "output_index": 0},
    "a part event without its part": {"type": "response.content_part.added", "output_index": 0, "content_index": 0},
    "a place that is not a number": {
        "type": "response.output_text.delta",
        "output_index": 0,
        "content_index": [],
        "delta": "x",
    },
    "an index that is not a number": {"type": "response.output_text.delta", "output_index": {}, "delta": "x"},
}


@pytest.fixture(scope="module")
def scripted() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as running:
        yield running


@pytest.fixture
def alias(stage: Stage, scripted: ScriptedUpstream) -> str:
    scripted.player.on_request = lambda: None
    return stage.model(max_output_tokens=50, upstream=stage.upstream_row(base_url=scripted.base_url))


@pytest.fixture
def caller(stage: Stage) -> Caller:
    return stage.caller(scopes=READ)


@pytest.mark.parametrize("streams", [False, True], ids=["json", "stream"])
@pytest.mark.parametrize("item", LEFT_EMPTY.values(), ids=LEFT_EMPTY)
def test_what_an_item_leaves_empty_is_empty(
    scripted: ScriptedUpstream, alias: str, caller: Caller, item: Any, streams: bool
) -> None:
    scripted.player.says = response_of(item)
    answer = respond(caller, ask(alias, stream=streams))
    assert (answer.status_code, caller.only_call.state) == (200, "settled")
    scripted.player.says = response_of(MESSAGE)
    stored = StoredResponse.objects.get(usage_id=caller.only_call.id)
    assert respond(caller, ask(alias, previous_response_id=stored.id)).status_code in (200, 400)


@pytest.mark.parametrize("streams", [False, True], ids=["json", "stream"])
@pytest.mark.parametrize("item", MALFORMED.values(), ids=MALFORMED)
def test_an_item_of_another_shape_is_invalid(
    scripted: ScriptedUpstream, alias: str, caller: Caller, item: Any, streams: bool
) -> None:
    scripted.player.says = response_of(item)
    answer = respond(caller, ask(alias, stream=streams))
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_invalid")
    assert caller.only_call.state == "review"


@pytest.mark.parametrize(
    "event", [*map(added, MALFORMED.values()), *MALFORMED_EVENTS.values()], ids=[*MALFORMED, *MALFORMED_EVENTS]
)
def test_an_event_of_another_shape_breaks_the_stream_off(
    scripted: ScriptedUpstream, alias: str, caller: Caller, event: Any
) -> None:
    scripted.player.says = events_of(added({**MESSAGE, "content": []}), event)
    events, receipt = stream(caller, ask(alias))
    assert (events[-2]["code"], events[-1]["type"]) == ("upstream_invalid", "response.failed")
    assert (receipt["charge_microusd"], caller.only_call.state) == (None, "review")


@pytest.mark.parametrize("item", LEFT_EMPTY.values(), ids=LEFT_EMPTY)
def test_a_stream_that_breaks_off_ends_with_what_its_items_left_empty(
    scripted: ScriptedUpstream, alias: str, caller: Caller, item: Any
) -> None:
    part = {"type": "response.content_part.added", "output_index": 0, "content_index": 0, "part": EMPTY_PART}
    scripted.player.says = [*events_of(added(item), *([part] if item["type"] == "message" else []))[:-1]]
    events, _ = stream(caller, ask(alias))
    assert events[-1]["type"] == "response.failed"
    assert caller.only_call.state == "review"


@pytest.mark.parametrize("depth", range(244, 256))
@pytest.mark.parametrize("streams", [False, True], ids=["json", "stream"])
def test_however_deep_an_answer_is_it_can_be_written_or_is_invalid(
    scripted: ScriptedUpstream, alias: str, caller: Caller, depth: int, streams: bool
) -> None:
    nested: Any = "x"
    for _ in range(depth - 3):
        nested = [nested]
    scripted.player.says = response_of({"type": "other", "nested": nested})
    assert respond(caller, ask(alias, stream=streams)).status_code in (200, 502)


@pytest.mark.parametrize("streams", [False, True], ids=["json", "stream"])
def test_a_charge_is_written_although_the_answer_cannot_be_stored(
    scripted: ScriptedUpstream, alias: str, caller: Caller, settings: Any, streams: bool
) -> None:
    def lose_the_keys() -> None:
        settings.FIELD_ENCRYPTION_KEYS = []

    scripted.player.says = events_of() if streams else response_of(MESSAGE)
    scripted.player.on_request = lose_the_keys
    answer = respond(caller, ask(alias, stream=streams))
    call = caller.only_call
    assert (answer.status_code, call.state, call.charge_microusd) == (
        200,
        "settled",
        cost_of({"input_tokens": 3, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 0}}),
    )
    assert not StoredResponse.objects.filter(usage_id=call.id).exists()


@pytest.mark.parametrize("method", ["add", "end"])
def test_no_fault_of_ours_leaves_a_hold_open(
    scripted: ScriptedUpstream, alias: str, caller: Caller, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Progress, method, fail)
    scripted.player.says = events_of()[:-1]
    answer = respond(caller, ask(alias, stream=True))
    assert (answer.status_code, caller.only_call.state) == (200, "review")
