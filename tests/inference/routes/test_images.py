"""Images from outside: what goes upstream, what comes back, and what it costs."""

import base64
from typing import Any

import pytest

from billing.models import UsageRecord
from billing.queries import audit
from tests.inference.routes.refusals import assert_refused
from tests.support.stage import Caller, Stage
from tests.support.upstream import LEAKS, Behaviour
from tests.support.upstream.images import data_of

PATH = "/v1/images/generations"
KINDS = {"1024x1024/low": "100", "1024x1024/high": "900", "1536x1024/low": "150", "1536x1024/high": "1300"}
OLDER = {"1024x1024/standard": "400", "1024x1024/hd": "800", "1792x1024/hd": "1200"}
TOKENS = {"image": "0", "input_token": "5", "cached_input_token": "1", "output_token": "2"}


def draw(model: str, **members: Any) -> dict[str, Any]:
    return {"model": model, "prompt": "A badger in the rain", **members}


def model_at(stage: Stage, price: Any = None, **fields: Any) -> str:
    return stage.model(
        price={"image": KINDS} if price is None else price, options={"routes": ["images.generations"]}, **fields
    )


def ask(stage: Stage, price: Any = None, *, fields: Any = None, **members: Any) -> tuple[Caller, Any]:
    alias, caller = model_at(stage, price, **(fields or {})), stage.caller()
    return caller, caller.post(draw(alias, **members), path=PATH)


def assert_charged(caller: Caller, answer: Any, *, hold: int, charge: int) -> None:
    headers = answer.headers
    assert answer.status_code == 200
    assert (headers["x-service-hold-microusd"], headers["x-service-charge-microusd"]) == (str(hold), str(charge))
    assert caller.wallet == {"balance": 1_000_000 - charge, "held": 0, "debt": 0}


def test_an_image_of_a_size_and_quality_is_charged_at_its_price(stage: Stage) -> None:
    alias, caller = model_at(stage), stage.caller()
    requested = draw(alias, size="1536x1024", quality="low", n=2, user="u-1", moderation="low", background="opaque")
    answer = caller.post({**requested, "style": "vivid", "output_compression": 80, "novelty": 1}, path=PATH)
    assert_charged(caller, answer, hold=300, charge=300)
    body = answer.json()
    assert [base64.b64decode(image["b64_json"]) for image in body["data"]] == [
        data_of(Behaviour(), at) for at in (0, 1)
    ]
    assert (body["model"], body["size"], body["quality"], body["output_format"]) == (alias, "1536x1024", "low", "png")
    assert body["usage"]["output_tokens"] == 544
    assert set(body) == {"created", "model", "data", "background", "output_format", "quality", "size", "usage"}
    [entry] = stage.upstream.ledger
    assert entry.body == {**requested, "model": "small-1", "style": "vivid", "output_compression": 80, "novelty": 1}
    used = UsageRecord.objects.get(call_id=caller.only_call.id)
    assert (used.images, used.input_tokens, used.output_tokens) == (2, entry.prompt_tokens, 544)
    assert audit.findings() == []


@pytest.mark.parametrize(
    ("members", "made", "hold", "charge"),
    [
        ({}, "1024x1024/low", 1300, 100),
        ({"size": "auto", "quality": "auto"}, "1536x1024/high", 1300, 1300),
        ({"size": "1024x1024"}, "1024x1024/high", 900, 900),
        ({"quality": "low"}, "1536x1024/low", 150, 150),
        ({"size": "1536x1024", "quality": "high"}, "1024x1024/low", 1300, 100),
        ({"size": "1024x1024", "quality": "low"}, "1536x1024/high", 100, 100),
        ({"n": 3}, "1024x1024/low", 3900, 300),
    ],
)
def test_what_is_left_open_is_held_at_the_highest_price_and_charged_as_it_came(
    stage: Stage, members: dict[str, Any], made: str, hold: int, charge: int
) -> None:
    stage.upstream.script(made=made)
    caller, answer = ask(stage, **members)
    assert_charged(caller, answer, hold=hold, charge=charge)


@pytest.mark.parametrize(
    ("price", "members", "hold", "charge"),
    [
        (OLDER, {}, 1200, 400),
        (OLDER, {"size": "1024x1024"}, 800, 400),
        (OLDER, {"quality": "hd"}, 1200, 800),
        (OLDER, {"size": "1792x1024"}, 1200, 1200),
        (OLDER, {"size": "1024x1024", "quality": "hd"}, 800, 800),
        (KINDS, {}, 1300, 1300),
        (KINDS, {"quality": "low"}, 150, 100),
    ],
)
def test_an_answer_that_does_not_say_what_it_is_counts_as_what_older_models_make(
    stage: Stage, price: Any, members: dict[str, Any], hold: int, charge: int
) -> None:
    stage.upstream.script(shape="silent")
    caller, answer = ask(stage, {"image": price}, **members)
    assert_charged(caller, answer, hold=hold, charge=charge)
    assert set(answer.json()) == {"created", "model", "data"}


def test_one_price_is_for_every_kind(stage: Stage) -> None:
    caller, answer = ask(stage, {"image": "40.5"}, size="3840x2160", quality="max", n=3)
    assert_charged(caller, answer, hold=122, charge=122)


@pytest.mark.parametrize(
    ("members", "param"),
    [
        ({"size": "512x512"}, "size"),
        ({"quality": "max"}, "quality"),
        ({"size": "1024x1024", "quality": "medium"}, "quality"),
        ({"size": "512x512", "quality": "low"}, "size"),
    ],
)
def test_a_kind_without_a_price_is_refused_before_anything_is_held(
    stage: Stage, members: dict[str, Any], param: str
) -> None:
    caller, answer = ask(stage, **members)
    assert_refused(stage, caller, answer, 503, "model_unavailable", param)


def test_an_image_of_a_kind_without_a_price_is_handed_out_and_left_to_review(stage: Stage) -> None:
    stage.upstream.script(made="4096x4096/low")
    caller, answer = ask(stage)
    assert (answer.status_code, answer.json()["size"], len(answer.json()["data"])) == (200, "4096x4096", 1)
    assert "x-service-charge-microusd" not in answer.headers
    assert caller.only_call.state == "review"
    assert caller.wallet == {"balance": 1_000_000, "held": 1300, "debt": 0}


@pytest.mark.parametrize(
    "price", [{"input_token": "5", "output_token": "40"}, {"input_character": "1"}, {"input_item": "1"}]
)
def test_without_a_price_of_images_there_are_none(stage: Stage, price: Any) -> None:
    caller, answer = ask(stage, price)
    assert_refused(stage, caller, answer, 503, "model_unavailable", None)


def test_the_services_own_alias_makes_images_and_text_models_do_not(stage: Stage) -> None:
    caller = stage.caller(scopes=("infer:image", "infer:fast"))
    assert_refused(stage, caller, caller.post(draw("image"), path=PATH), 503, "model_unavailable", None)
    assert_refused(stage, caller, caller.post(draw("fast"), path=PATH), 400, "invalid_request", "model")


@pytest.mark.parametrize(
    ("members", "param"),
    [
        ({"prompt": None}, "prompt"),
        ({"prompt": ""}, "prompt"),
        ({"prompt": ["x"]}, "prompt"),
        ({"n": 0}, "n"),
        ({"n": 11}, "n"),
        ({"n": 1.5}, "n"),
        ({"n": True}, "n"),
        ({"n": 2, "stream": True}, "n"),
        ({"size": 1024}, "size"),
        ({"size": "1024 x 1024"}, "size"),
        ({"size": "x" * 33}, "size"),
        ({"quality": ["low"]}, "quality"),
        ({"quality": "low/x"}, "quality"),
        ({"output_format": "gif"}, "output_format"),
        ({"output_format": "svg"}, "output_format"),
        ({"output_format": 1}, "output_format"),
        ({"response_format": "file"}, "response_format"),
        ({"stream": "yes"}, "stream"),
        ({"partial_images": 1}, "partial_images"),
        ({"partial_images": 4, "stream": True}, "partial_images"),
        ({"partial_images": -1, "stream": True}, "partial_images"),
        ({"partial_images": False, "stream": True}, "partial_images"),
        ({"partial_images": 0.0, "stream": True}, "partial_images"),
        ({"svg": {"model": "m"}}, "svg"),
        ({"complexity": "high"}, "complexity"),
        ({"frame_count": 9}, "frame_count"),
        ({"frame_duration_ms": 10}, "frame_duration_ms"),
        ({"image": "https://elsewhere.example/a.png"}, "image"),
        ({"mask": "x"}, "mask"),
        ({"width": 4096}, "width"),
        ({"num_images": 50}, "num_images"),
        ({"base_url": "https://elsewhere.example"}, "base_url"),
        ({"service_tier": "priority"}, "service_tier"),
    ],
)
def test_a_body_that_is_not_valid_is_refused_by_name(stage: Stage, members: dict[str, Any], param: str) -> None:
    caller, answer = ask(stage, **members)
    assert_refused(stage, caller, answer, 400, "invalid_request", param)


@pytest.mark.parametrize("members", [{"partial_images": 0}, {"n": None, "size": None, "partial_images": None}])
def test_what_asks_for_nothing_passes(stage: Stage, members: dict[str, Any]) -> None:
    caller, answer = ask(stage, {"image": "40"}, **members)
    assert_charged(caller, answer, hold=40, charge=40)


@pytest.mark.parametrize(("shape", "images"), [("few", 1), ("many", 2)])
def test_images_are_counted_in_the_answer_and_never_more_than_were_requested(
    stage: Stage, shape: str, images: int
) -> None:
    stage.upstream.script(shape=shape)
    caller, answer = ask(stage, {"image": "40"}, n=2)
    assert len(answer.json()["data"]) == images
    assert_charged(caller, answer, hold=80, charge=40 * images)


@pytest.mark.parametrize("shape", ["none", "null", "object", "text", "no_data", "empty_data", "number_data"])
def test_an_answer_without_images_is_left_to_review(stage: Stage, shape: str) -> None:
    stage.upstream.script(shape=shape)
    caller, answer = ask(stage)
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_invalid")
    assert caller.only_call.state == "review"


def test_tokens_are_charged_where_they_have_a_price(stage: Stage) -> None:
    caller, answer = ask(stage, TOKENS, fields={"max_output_tokens": 5_000}, quality="high", n=2)
    [entry] = stage.upstream.ledger
    size_bytes = len(b'{"model":"","n":2,"prompt":"A badger in the rain","quality":"high"}') + len(
        answer.json()["model"]
    )
    hold = 5 * size_bytes + 2 * 2 * 5_000
    assert_charged(caller, answer, hold=hold, charge=5 * entry.prompt_tokens + 2 * 2 * 4160)


def test_images_and_tokens_are_both_charged_where_both_have_a_price(stage: Stage) -> None:
    _caller, answer = ask(
        stage, {**TOKENS, "image": KINDS}, fields={"max_output_tokens": 5_000}, size="1024x1024", quality="low"
    )
    [entry] = stage.upstream.ledger
    assert answer.headers["x-service-charge-microusd"] == str(100 + 5 * entry.prompt_tokens + 2 * 272)


def test_the_hold_of_tokens_needs_no_limit_of_the_alias(stage: Stage) -> None:
    caller, answer = ask(stage, {"image": "0", "input_token": "0", "output_token": "2"})
    assert_charged(caller, answer, hold=2 * 16_384, charge=2 * 1056)


@pytest.mark.parametrize("usage", ["missing", "null", "partial"])
def test_tokens_with_a_price_and_without_a_count_are_left_to_review(stage: Stage, usage: str) -> None:
    stage.upstream.script(usage=usage)
    caller, answer = ask(stage, TOKENS)
    assert (answer.status_code, answer.json()["usage"], len(answer.json()["data"])) == (200, None, 1)
    assert "x-service-charge-microusd" not in answer.headers
    assert caller.only_call.state == "review"


@pytest.mark.parametrize("usage", ["boolean", "fractional", "huge", "negative", "string"])
@pytest.mark.parametrize("price", [TOKENS, {"image": "40"}])
def test_a_count_that_is_none_is_left_to_review(stage: Stage, price: Any, usage: str) -> None:
    stage.upstream.script(usage=usage)
    caller, answer = ask(stage, price)
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_invalid")
    assert caller.only_call.state == "review"


def test_tokens_beyond_the_hold_are_the_operators_loss(stage: Stage) -> None:
    stage.upstream.script(usage="over_cap")
    caller, answer = ask(stage, TOKENS, fields={"max_output_tokens": 1056})
    hold = int(answer.headers["x-service-hold-microusd"])
    assert_charged(caller, answer, hold=hold, charge=hold)


def test_an_image_that_costs_more_than_the_callers_maximum_is_not_made(stage: Stage) -> None:
    alias, caller = model_at(stage), stage.caller()
    answer = caller.post(draw(alias, quality="high"), path=PATH, max_cost=1299)
    assert answer.json()["error"]["details"] == {"requiredMicrousd": 1300}
    assert_refused(stage, caller, answer, 402, "max_cost_exceeded", None)


@pytest.mark.parametrize("response_format", ["url", "b64_json"])
def test_a_client_gets_the_data_whatever_it_asks_for(stage: Stage, response_format: str) -> None:
    _, answer = ask(stage, {"image": "40"}, response_format=response_format)
    [image] = answer.json()["data"]
    assert set(image) == {"b64_json"}
    assert stage.upstream.ledger.entries[0].body["response_format"] == "b64_json"


def test_nothing_of_the_upstream_is_shown(stage: Stage) -> None:
    _, answer = ask(stage)
    assert not any(leak in answer.text for leak in LEAKS)


def test_a_large_answer_passes_and_its_repetition_costs_nothing(stage: Stage) -> None:
    stage.upstream.script(image_bytes=9 * 1024 * 1024)
    alias, caller = model_at(stage, {"image": "40"}), stage.caller()
    first, again = (caller.post(draw(alias, n=4), path=PATH, key="same") for _ in range(2))
    assert [len(image["b64_json"]) for image in first.json()["data"]] == [12 * 1024 * 1024] * 4
    assert again.status_code != 500
    assert len(stage.upstream.ledger) == 1
    assert caller.wallet == {"balance": 1_000_000 - 160, "held": 0, "debt": 0}


@pytest.mark.parametrize(
    ("preset", "status", "code", "state"),
    [
        ("reject-content-policy", 400, "invalid_request", "released"),
        ("reject-too-large", 413, "input_too_large", "released"),
        ("unauthorized", 503, "model_unavailable", "released"),
        ("secret-error", 502, "upstream_error", "released"),
        ("garbage-json", 502, "upstream_invalid", "review"),
        ("truncated-json", 502, "upstream_invalid", "review"),
        ("cut-mid-body", 502, "upstream_error", "review"),
    ],
)
def test_what_an_upstreams_failure_means(stage: Stage, preset: str, status: int, code: str, state: str) -> None:
    stage.upstream.script(preset)
    caller, answer = ask(stage)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert caller.only_call.state == state
    assert not any(leak in answer.text for leak in LEAKS)
