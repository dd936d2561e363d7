"""The stream of an image: its events, its receipt, and what is charged however it ends."""

import base64
import json
from typing import Any

import pytest

from billing.queries import audit
from tests.support.concurrency import eventually
from tests.support.stage import Caller, Stage
from tests.support.upstream import LEAKS, Behaviour
from tests.support.upstream.images import data_of

PATH = "/v1/images/generations"
PRICE = {"image": {"1024x1024/medium": "400", "1024x1024/high": "900"}}
TOKENS = {"image": "0", "input_token": "5", "output_token": "2"}
COMPLETED, PARTIAL = "image_generation.completed", "image_generation.partial_image"


def model_at(stage: Stage, price: Any = None, **fields: Any) -> str:
    return stage.model(price=price or PRICE, options={"routes": ["images.generations"]}, **fields)


def draw(model: str, **members: Any) -> dict[str, Any]:
    return {"model": model, "prompt": "A badger in the rain", "stream": True, **members}


def ask(stage: Stage, price: Any = None, **members: Any) -> tuple[Caller, Any]:
    alias, caller = model_at(stage, price), stage.caller()
    return caller, caller.post(draw(alias, **members), path=PATH)


def events_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]


def receipt_of(text: str) -> Any:
    last = text.strip().splitlines()[-1]
    assert last.startswith(": service ")
    return json.loads(last.removeprefix(": service "))


def test_partial_images_come_first_and_the_price_is_the_images(stage: Stage) -> None:
    caller, answer = ask(stage, partial_images=2, size="1024x1024", quality="medium")
    assert answer.headers["content-type"] == "text/event-stream"
    assert answer.headers["x-service-hold-microusd"] == "400"
    events = events_of(answer.text)
    assert [event["type"] for event in events] == [PARTIAL, PARTIAL, COMPLETED]
    assert [event.get("partial_image_index") for event in events] == [0, 1, None]
    decoded = [base64.b64decode(event["b64_json"]) for event in events]
    assert decoded == [data_of(Behaviour(), number) for number in (1, 2, 0)]
    assert events[-1]["usage"]["output_tokens"] == 1256
    assert receipt_of(answer.text) == {"usage_id": caller.only_call.id, "charge_microusd": 400}
    assert not any(leak in answer.text for leak in LEAKS)
    [entry] = stage.upstream.ledger
    assert (entry.body["stream"], entry.body["partial_images"]) == (True, 2)
    assert caller.wallet == {"balance": 999_600, "held": 0, "debt": 0}
    assert audit.findings() == []


def test_a_repeated_request_gets_the_same_stream(stage: Stage) -> None:
    alias, caller = model_at(stage), stage.caller()
    first, again = (caller.post(draw(alias, partial_images=1), path=PATH, key="same") for _ in range(2))
    assert (again.text, again.headers["idempotent-replayed"]) == (first.text, "true")
    assert len(stage.upstream.ledger) == 1


def test_what_is_left_open_is_charged_as_the_event_says(stage: Stage) -> None:
    _caller, answer = ask(stage)
    assert answer.headers["x-service-hold-microusd"] == "900"
    assert receipt_of(answer.text)["charge_microusd"] == 400


def test_each_partial_image_is_in_the_hold_where_tokens_have_a_price(stage: Stage) -> None:
    alias, caller = model_at(stage, TOKENS, max_output_tokens=2_000), stage.caller()
    plain = caller.post(draw(alias), path=PATH)
    partial = caller.post(draw(alias, partial_images=3), path=PATH)
    holds = [int(answer.headers["x-service-hold-microusd"]) for answer in (plain, partial)]
    assert holds[1] - holds[0] == 2 * 300 + 5 * len(',"partial_images":3')
    prompt = stage.upstream.ledger.entries[0].prompt_tokens
    assert receipt_of(partial.text)["charge_microusd"] == 5 * prompt + 2 * (1056 + 300)


def test_an_image_larger_than_other_events_may_be_passes(stage: Stage) -> None:
    stage.upstream.script(image_bytes=6 * 1024 * 1024)
    _caller, answer = ask(stage, partial_images=1)
    assert [len(event["b64_json"]) for event in events_of(answer.text)] == [8 * 1024 * 1024] * 2
    assert receipt_of(answer.text)["charge_microusd"] == 400


def test_an_upstream_that_does_not_stream_answers_as_a_stream(stage: Stage) -> None:
    stage.upstream.script("swapped")
    _caller, answer = ask(stage, partial_images=1)
    [event] = events_of(answer.text)
    assert (event["type"], event["size"], event["quality"]) == (COMPLETED, "1024x1024", "medium")
    assert base64.b64decode(event["b64_json"]) == data_of(Behaviour())
    assert receipt_of(answer.text)["charge_microusd"] == 400


@pytest.mark.parametrize(
    ("behaviour", "evidence"),
    [
        ({"shape": "more_partials"}, 400),
        ({"shape": "no_image"}, 400),
        ({"shape": "no_data"}, 400),
        ({"cut": "first_event"}, 400),
        ({"error_event": True}, 400),
    ],
)
def test_a_stream_that_breaks_is_left_to_review_with_what_was_seen(
    stage: Stage, behaviour: dict[str, Any], evidence: int
) -> None:
    stage.upstream.script(**behaviour)
    caller, answer = ask(stage, partial_images=1, size="1024x1024", quality="medium")
    *before, last = events_of(answer.text)
    assert [event["type"] for event in before] == [PARTIAL]
    assert last["error"]["code"] in ("upstream_error", "upstream_invalid")
    assert receipt_of(answer.text)["charge_microusd"] is None
    assert not any(leak in answer.text for leak in LEAKS)
    call = caller.only_call
    assert call.state == "review"
    assert call.evidence["charge_microusd"] == evidence
    assert caller.wallet == {"balance": 1_000_000, "held": 400, "debt": 0}


def test_a_stream_that_breaks_before_its_first_event_answers_with_a_status(stage: Stage) -> None:
    stage.upstream.script(shape="no_data")
    caller, answer = ask(stage)
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_invalid")
    assert caller.only_call.state == "review"


@pytest.mark.parametrize("usage", ["missing", "null"])
def test_an_image_without_its_tokens_is_handed_out_and_left_to_review(stage: Stage, usage: str) -> None:
    stage.upstream.script(usage=usage)
    caller, answer = ask(stage, TOKENS)
    assert [event["type"] for event in events_of(answer.text)] == [COMPLETED]
    assert receipt_of(answer.text)["charge_microusd"] is None
    assert caller.only_call.state == "review"


@pytest.mark.parametrize("usage", ["boolean", "fractional", "huge", "negative", "string"])
def test_a_count_that_is_none_withholds_the_image(stage: Stage, usage: str) -> None:
    stage.upstream.script(usage=usage)
    caller, answer = ask(stage)
    [event] = events_of(answer.text)
    assert event["error"]["code"] == "upstream_invalid"
    assert caller.only_call.state == "review"


def left_after(stage: Stage, price: Any, events: int, **members: Any) -> Caller:
    """Leave a stream once so many of its events were read."""
    alias, caller = model_at(stage, price), stage.caller()
    with stage.upstream.holding():
        with caller.stream(draw(alias, **members), path=PATH) as answer:
            lines = answer.iter_lines()
            while events:
                events -= next(lines).startswith("data: ")
        eventually(lambda: caller.only_call.state == "settled")
    return caller


def test_whoever_leaves_with_a_partial_image_pays_for_the_image(stage: Stage) -> None:
    caller = left_after(stage, PRICE, 1, partial_images=2, size="1024x1024", quality="medium")
    assert caller.wallet == {"balance": 999_600, "held": 0, "debt": 0}


def test_whoever_leaves_with_a_partial_image_pays_for_its_tokens(stage: Stage) -> None:
    caller = left_after(stage, TOKENS, 1, partial_images=2)
    assert caller.wallet == {"balance": 1_000_000 - 5 * 5 - 2 * 1056, "held": 0, "debt": 0}


def test_the_demo_draws_a_png_row_by_row(stage: Stage) -> None:
    row = stage.upstream_row(adapter="demo", options={"token_seconds": 0})
    alias, caller = model_at(stage, {"image": "400"}, upstream=row), stage.caller()
    answer = caller.post(draw(alias, partial_images=3, size="64x48"), path=PATH)
    events = events_of(answer.text)
    assert [event["type"] for event in events] == [PARTIAL] * 3 + [COMPLETED]
    assert len({event["b64_json"] for event in events}) == 4
    assert receipt_of(answer.text)["charge_microusd"] == 400
    assert caller.wallet == {"balance": 999_600, "held": 0, "debt": 0}
