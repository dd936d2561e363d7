"""Chat streams with the vendor's package for Node.js: each ends normally or with the package's own error."""

import json
import uuid
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Account
from tests.interop.node_script import run_script
from tests.support.stage import CHAT, MESSAGES, Caller, Stage

pytestmark = pytest.mark.usefixtures("npm_packages")

BROKEN = {"cut-mid-stream": "upstream_error", "error-event": "upstream_error", "usage-negative": "upstream_invalid"}


def request_for(stage: Stage, caller: Caller, model: str, *, limit: int = 20, **members: Any) -> dict[str, Any]:
    """Build one request with the headers that prove, key and limit it."""
    headers = {
        **caller.headers(CHAT),
        "Idempotency-Key": uuid.uuid4().hex,
        "x-service-max-cost-microusd": "100000",
    }
    alias = stage.model(model, max_output_tokens=limit)
    return {"body": {"model": alias, "messages": MESSAGES, **members}, "headers": headers}


def run(stage: Stage, requests: dict[str, Any], **options: Any) -> dict[str, Any]:
    return run_script("openai_chat.js", f"{stage.origin}/v1", json.dumps(requests), **options)


def finishes(chunks: list[Any]) -> set[str]:
    return {choice["finish_reason"] for chunk in chunks for choice in chunk["choices"] if choice["finish_reason"]}


def test_streams_that_are_cut_or_break_off(stage: Stage) -> None:
    caller = stage.caller()
    requests = {name: request_for(stage, caller, name) for name in ("small-1", "endless", *BROKEN)}
    requests["two"] = request_for(stage, caller, "endless", n=2)
    requests["whole"] = request_for(stage, caller, "small-1") | {"helper": True}
    requests["cut"] = request_for(stage, caller, "endless") | {"helper": True}
    requests["broken"] = request_for(stage, caller, "cut-mid-stream") | {"helper": True}
    requests["refused"] = request_for(stage, caller, "small-1", moderation={"model": "m"})
    found = run(stage, requests)
    assert finishes(found["small-1"]["chunks"]) == {"stop"}
    assert finishes(found["endless"]["chunks"]) == finishes(found["two"]["chunks"]) == {"length"}
    for name, code in BROKEN.items():
        assert found[name]["error"] == {"kind": "APIError", "code": code, "status": None, "isOpenAI": True}
    assert found["whole"]["completion"]["choices"][0]["finish_reason"] == "stop"
    assert found["cut"]["completion"]["choices"][0]["finish_reason"] == "length"
    assert found["broken"]["error"]["isOpenAI"]
    assert found["refused"]["error"] == {
        "kind": "BadRequestError",
        "code": "invalid_request",
        "status": 400,
        "isOpenAI": True,
    }


def test_a_stream_whose_caller_loses_access(stage: Stage, settings: Any) -> None:
    settings.STREAM_CHECKPOINT_SECONDS = 0.1
    caller = stage.caller()
    request = request_for(stage, caller, "small-1?tokens=2000&token_delay_ms=10", limit=3000)

    def suspend(question: str) -> str:
        Account.objects.filter(did=caller.did).update(suspended_at=timezone.now())
        return question

    found = run(stage, {"ended": {**request, "pause": "suspend"}}, answer=suspend)["ended"]
    assert found["error"] == {"kind": "APIError", "code": "invalid_token", "status": None, "isOpenAI": True}
    assert 0 < len(found["chunks"]) < 2000
