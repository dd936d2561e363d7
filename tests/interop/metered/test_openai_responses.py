"""Responses with the vendor's package for Node.js: stored ones, streams and their ends, parsing, tools, and its errors."""

import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Account
from tests.inference.routes.test_responses import cost_of
from tests.interop.node_script import run_script
from tests.support.stage import Caller, Stage

pytestmark = pytest.mark.usefixtures("npm_packages")

PROMPT = "Say something about badgers."
SCOPES = ("infer:*", "responses:read", "responses:delete")
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "country": {"type": "string"}},
    "required": ["city", "country"],
    "additionalProperties": False,
}
TOOL = {"type": "function", "name": "weather", "strict": True, "parameters": SCHEMA}
BROKEN = {
    "cut-mid-stream": "upstream_error",
    "cut-mid-event": "upstream_error",
    "error-event": "upstream_error",
    "usage-negative": "upstream_invalid",
}
REFUSED = {
    "reject-parameter": ("BadRequestError", "invalid_request", 400),
    "reject-too-large": ("APIError", "input_too_large", 413),
    "unauthorized": ("InternalServerError", "model_unavailable", 503),
    "overloaded": ("InternalServerError", "upstream_overloaded", 503),
    "secret-error": ("InternalServerError", "upstream_error", 502),
    "garbage-json": ("InternalServerError", "upstream_invalid", 502),
}


@pytest.fixture(params=["native", "translated"])
def upstream_options(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Options of an upstream that knows responses, and of one that knows only chat completions."""
    return {} if request.param == "native" else {"routes": ["chat.completions"]}


def body_for(stage: Stage, model: str = "small-1", *, limit: int = 100, **members: Any) -> dict[str, Any]:
    options = members.pop("options", {})
    alias = stage.model(model, max_output_tokens=limit, upstream=stage.upstream_row(options=options))
    return {"model": alias, "input": PROMPT, **members}


def run(stage: Stage, caller: Caller, scenarios: dict[str, Any], pause: Callable[[], None] | None = None) -> Any:
    """Run scenarios whose requests are proved here, one by one."""

    def answer(question: Any) -> Any:
        if isinstance(question, dict):
            headers = caller.headers(question["path"], method=question["method"])
            return {**headers, "Idempotency-Key": uuid.uuid4().hex, "x-service-max-cost-microusd": "100000"}
        assert pause is not None
        pause()
        return None

    return run_script("openai_responses.js", f"{stage.origin}/v1", json.dumps(scenarios), answer=answer)


def test_stored_responses(stage: Stage, upstream_options: dict[str, Any]) -> None:
    caller = stage.caller(scopes=SCOPES)
    scenarios = {"stored": {"does": "stored", "body": body_for(stage, options=upstream_options)}}
    found = run(stage, caller, scenarios)["stored"]
    assert found["read"] == found["made"]
    assert found["continued"]["previous_response_id"] == found["made"]["id"]
    assert [item["role"] for item in found["items"]] == ["user", "assistant", "user"]
    assert found["gone"] == {"kind": "NotFoundError", "code": "not_found", "status": 404, "isOpenAI": True}
    costs = [cost_of(found[name]["usage"]) for name in ("made", "continued")]
    assert [call.charge_microusd for call in caller.calls] == costs
    assert caller.wallet == {"balance": 1_000_000 - sum(costs), "held": 0, "debt": 0}


def test_streams_end_normally_or_with_the_packages_own_error(stage: Stage, upstream_options: dict[str, Any]) -> None:
    caller = stage.caller(scopes=SCOPES)
    events = {
        name: {"does": "events", "body": body_for(stage, name, limit=20, options=upstream_options)}
        for name in ("small-1", "endless", *BROKEN)
    }
    helped = {
        f"helper {name}": {"does": "helper", "body": body_for(stage, name, limit=20, options=upstream_options)}
        for name in ("small-1", "endless", "cut-mid-stream")
    }
    found = run(stage, caller, {**events, **helped})
    assert found["small-1"]["events"][-1]["type"] == "response.completed"
    assert found["endless"]["events"][-1]["type"] == "response.incomplete"
    for name, code in BROKEN.items():
        assert found[name]["error"] == {"kind": "APIError", "code": code, "status": None, "isOpenAI": True}
    whole, cut = found["helper small-1"], found["helper endless"]["final"]
    assert len(whole["final"]["output_text"].split()) == whole["final"]["usage"]["output_tokens"] == 16
    assert whole["read"]["output"] == [without_parsed(item) for item in whole["final"]["output"]]
    assert (cut["status"], cut["incomplete_details"]) == ("incomplete", {"reason": "max_output_tokens"})
    assert found["helper cut-mid-stream"]["error"]["isOpenAI"]


def without_parsed(item: dict[str, Any]) -> dict[str, Any]:
    """Take away what the package's helper adds to an item."""
    content = [{name: part[name] for name in part if name != "parsed"} for part in item["content"]]
    return {**item, "content": content}


def test_a_stream_whose_caller_loses_access(stage: Stage, settings: Any) -> None:
    settings.STREAM_CHECKPOINT_SECONDS = 0.1
    caller = stage.caller(scopes=SCOPES)
    body = body_for(stage, "small-1?tokens=2000&token_delay_ms=10", limit=3000)

    def suspend() -> None:
        Account.objects.filter(did=caller.did).update(suspended_at=timezone.now())

    found = run(stage, caller, {"ended": {"does": "events", "body": body, "pause": "suspend"}}, suspend)["ended"]
    assert found["error"] == {"kind": "APIError", "code": "invalid_token", "status": None, "isOpenAI": True}
    assert 0 < len(found["events"]) < 2000
    assert caller.only_call.state == "settled"


def test_structured_answers_are_parsed(stage: Stage) -> None:
    scenarios = {"place": {"does": "parsed", "body": body_for(stage), "schema": SCHEMA}}
    found = run(stage, stage.caller(scopes=SCOPES), scenarios)["place"]
    assert found["whole"] == found["streamed"] == {"city": "Reykjavík", "country": "Reykjavík"}


def test_a_tool_loop(stage: Stage, upstream_options: dict[str, Any]) -> None:
    body = body_for(stage, options=upstream_options, tools=[TOOL])
    scenarios = {name: {"does": "tools", "body": body, "streams": name == "streamed"} for name in ("whole", "streamed")}
    found = run(stage, stage.caller(scopes=SCOPES), scenarios)
    for loop in found.values():
        [call] = loop["calls"]
        assert json.loads(call["arguments"]) == {"city": "Reykjavík", "country": "Reykjavík"}
        assert len(loop["text"].split()) == 16


def test_refusals_are_the_packages_own_errors(stage: Stage) -> None:
    scenarios = {name: {"does": "refused", "body": body_for(stage, name)} for name in REFUSED}
    scenarios["hosted tool"] = {"does": "refused", "body": body_for(stage, tools=[{"type": "web_search"}])}
    found = run(stage, stage.caller(scopes=SCOPES), scenarios)
    expected = {**REFUSED, "hosted tool": ("BadRequestError", "invalid_request", 400)}
    for name, (kind, code, status) in expected.items():
        assert found[name] == {"kind": kind, "code": code, "status": status, "isOpenAI": True}
