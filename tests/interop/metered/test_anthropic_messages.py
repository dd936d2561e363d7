"""Messages with the vendor's package for Node.js: answers, streams and their ends, tools, counts, and its errors."""

import json
import uuid
from typing import Any

import pytest

from tests.inference.routes.test_messages import FORMS, PRICE
from tests.interop.node_script import run_script
from tests.support.concurrency import eventually
from tests.support.stage import Caller, Stage

pytestmark = pytest.mark.usefixtures("npm_packages")

HELLO = [{"role": "user", "content": "Say something about badgers."}]
TEXT = "the quick brown fox"
WEATHER = {
    "name": "weather",
    "input_schema": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
}
REFUSED = {
    "small-1?status=400": ("BadRequestError", 400, "invalid_request_error", "invalid_request"),
    "small-1?status=500": ("InternalServerError", 502, "api_error", "upstream_error"),
    "small-1?status=503&error_code=overloaded": (
        "ServiceUnavailableError",
        503,
        "overloaded_error",
        "upstream_overloaded",
    ),
    "small-1?form=garbage": ("InternalServerError", 502, "api_error", "upstream_invalid"),
}


@pytest.fixture(params=FORMS, name="form")
def _form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def body_for(stage: Stage, form: str, model: str = "small-1?tokens=4", **members: Any) -> dict[str, Any]:
    alias = stage.model(model, upstream=stage.upstream_row(**FORMS[form]), price=PRICE)
    return {"model": alias, "max_tokens": 50, "messages": HELLO, **members}


def run(stage: Stage, caller: Caller, scenarios: dict[str, Any]) -> Any:
    """Run scenarios whose requests are proved here, one by one."""

    def answer(question: Any) -> Any:
        if question == "abort":
            eventually(lambda: len(caller.calls) == 1)
            return None
        headers = caller.headers(question["path"], method=question["method"])
        return {**headers, "Idempotency-Key": uuid.uuid4().hex, "x-service-max-cost-microusd": "100000"}

    return run_script("anthropic_messages.js", stage.origin, json.dumps(scenarios), answer=answer)


def test_messages_and_their_streams(stage: Stage, form: str) -> None:
    caller = stage.caller()
    body = body_for(stage, form)
    scenarios = {name: {"does": name, "body": body} for name in ("created", "events", "helper", "counted")}
    found = run(stage, caller, scenarios)
    created, helper = found["created"], found["helper"]
    first, *_ = caller.calls
    assert [block["text"] for block in created["message"]["content"]] == [TEXT]
    assert created["id"] == created["request_id"] == first.request_id
    assert created["charge"] == str(first.charge_microusd)
    kinds = [event["type"] for event in found["events"]["events"] if event["type"] != "content_block_delta"]
    assert kinds == ["message_start", "content_block_start", "content_block_stop", "message_delta", "message_stop"]
    assert "".join(helper["texts"]) == helper["snapshots"][-1] == helper["final"]["content"][0]["text"] == TEXT
    assert helper["final"]["usage"]["output_tokens"] == 4
    assert helper["blocks"] == ["text"]
    assert found["counted"]["input_tokens"] >= 7
    assert {call.charge_microusd for call in caller.calls} == {first.charge_microusd}
    assert len(caller.calls) == 3


def test_tools_go_round(stage: Stage, form: str) -> None:
    body = body_for(stage, form, "small-1?tokens=4&calls=2", tools=[WEATHER])
    scenarios: dict[str, Any] = {
        name: {"does": "tools", "body": body, "streams": name == "streamed", "rounds": 2}
        for name in ("whole", "streamed")
    }
    scenarios["helper"] = {"does": "helper", "body": body}
    found = run(stage, stage.caller(), scenarios)
    for name in ("whole", "streamed"):
        uses = [use for content in found[name]["used"] for use in content]
        assert [(use["name"], use["input"]) for use in uses] == [("weather", {"place": "Reykjavík"})] * 4
        assert len({use["id"] for use in uses}) == 4
        assert found[name]["text"] == TEXT
    assert "".join(found["helper"]["json"]).replace(" ", "") == '{"place":"Reykjavík"}' * 2
    assert found["helper"]["blocks"] == ["tool_use", "tool_use"]


def test_thinking_is_heard(stage: Stage) -> None:
    thinking = {"type": "enabled", "budget_tokens": 1024}
    body = body_for(stage, "anthropic", "small-1?tokens=4&reasoning_tokens=3", max_tokens=3000, thinking=thinking)
    found = run(stage, stage.caller(), {"thought": {"does": "helper", "body": body}})["thought"]
    assert ("".join(found["thoughts"]), found["blocks"]) == ("hm hm hm", ["thinking", "text"])
    assert found["final"]["content"][0]["signature"] == "EqQBCkgIAxABGAIi"


def test_refusals_and_broken_streams_are_the_packages_own_errors(stage: Stage, form: str) -> None:
    caller = stage.caller()
    scenarios = {model: {"does": "refused", "body": body_for(stage, form, model)} for model in REFUSED}
    scenarios["nothing said"] = {"does": "refused", "body": body_for(stage, form, messages=[])}
    scenarios["no model"] = {"does": "refused", "body": {**body_for(stage, form), "model": "nothing"}}
    broken = body_for(stage, form, "small-1?error_event=true")
    scenarios |= {does: {"does": does, "body": broken} for does in ("events", "helper")}
    found = run(stage, caller, scenarios)
    expected = {
        **REFUSED,
        "nothing said": ("BadRequestError", 400, "invalid_request_error", "invalid_request"),
        "no model": ("NotFoundError", 404, "not_found_error", "model_not_found"),
    }
    for name, (kind, status, error_type, code) in expected.items():
        told = found[name]
        assert (told["kind"], told["status"], told["type"], told["code"]) == (kind, status, error_type, code)
        assert told["isTheirs"]
        assert told["requestID"]
    for does in ("events", "helper"):
        told = found[does]["error"]
        assert (told["type"], told["code"], told["isTheirs"]) == ("api_error", "upstream_error", True)
    assert "".join(found["helper"]["texts"]).startswith("the quick")


def test_a_caller_without_rights_or_money(stage: Stage) -> None:
    body = body_for(stage, "anthropic")
    scenario = {"refused": {"does": "refused", "body": body}}
    forbidden = run(stage, stage.caller(scopes=("infer:other",)), scenario)["refused"]
    penniless = run(stage, stage.caller(balance=0), scenario)["refused"]
    assert (forbidden["kind"], forbidden["type"]) == ("PermissionDeniedError", "permission_error")
    assert (penniless["status"], penniless["type"], penniless["code"]) == (402, "billing_error", "insufficient_funds")


def test_a_stream_that_is_left_is_charged_for_what_was_delivered(stage: Stage, form: str) -> None:
    caller = stage.caller()
    body = body_for(stage, form, "small-1?tokens=3000&token_delay_ms=10", max_tokens=3000)
    found = run(stage, caller, {"left": {"does": "left", "body": body}})["left"]
    assert (found["kind"], found["isTheirs"]) == ("APIUserAbortError", True)
    eventually(lambda: caller.only_call.state == "settled")
    assert 1 <= caller.only_call.usage_record.output_tokens < 3000


def test_a_request_that_is_aborted_is_closed(stage: Stage) -> None:
    caller = stage.caller()
    body = body_for(stage, "anthropic")
    with stage.upstream.holding():
        found = run(stage, caller, {"aborted": {"does": "aborted", "body": body}})["aborted"]
    assert found["kind"] == "APIUserAbortError"
    eventually(lambda: caller.only_call.state == "settled")
