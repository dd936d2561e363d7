"""The handler's own behaviour: methods, paths, CORS, request ids, other servers."""

import asyncio
from typing import Any

import httpx
import pytest
import websockets

from tests.support.processes import gateway_process
from tests.support.stage import CHAT, EMBEDDINGS, MESSAGE, Stage, chat


@pytest.mark.parametrize("path", [CHAT, EMBEDDINGS, MESSAGE, f"{MESSAGE}/count_tokens"])
@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_another_method_is_not_allowed(stage: Stage, path: Any, method: Any) -> None:
    answer = stage.client.request(method, stage.origin + path)
    assert (answer.status_code, answer.json()["error"]["code"]) == (405, "method_not_allowed")
    assert answer.headers["allow"] == "POST"
    assert answer.headers["cache-control"] == "no-store"
    error = answer.json()["error"] | answer.json()
    assert error["request_id"] == answer.headers["x-request-id"]


@pytest.mark.parametrize(
    "path", ["/v1/chat/completions/", "/v1/chat/completionsx", "/v1/chat", "/v1/messages/", "/v1/nothing"]
)
def test_a_path_that_no_route_matches_is_not_found(stage: Stage, path: Any) -> None:
    answer = stage.client.post(stage.origin + path)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
    assert answer.headers["cache-control"] == "no-store"


def test_a_well_formed_request_id_is_echoed(stage: Stage) -> None:
    answer = stage.client.post(stage.origin + CHAT, headers={"X-Request-Id": "mine-1"})
    assert answer.headers["x-request-id"] == answer.json()["error"]["request_id"] == "mine-1"
    answer = stage.client.post(stage.origin + CHAT, headers={"X-Request-Id": "not mine"})
    assert answer.headers["x-request-id"].startswith("req_")


def test_an_answer_to_a_refused_proof_carries_its_challenge(stage: Stage) -> None:
    answer = stage.client.post(stage.origin + CHAT, json={})
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_dpop_proof")
    assert answer.headers["www-authenticate"].startswith('DPoP error="invalid_dpop_proof"')


def test_a_configured_origin_may_call_from_a_browser(stage: Stage, settings: Any) -> None:
    settings.CORS_ALLOWED_ORIGINS = ["https://app.example"]
    preflight = {
        "Origin": "https://app.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "dpop, authorization, idempotency-key, anthropic-version, anthropic-beta",
    }
    answer = stage.client.options(stage.origin + CHAT, headers=preflight)
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == "https://app.example"
    allowed = answer.headers["access-control-allow-headers"].split(", ")
    assert {"dpop", "anthropic-version", "anthropic-beta"} <= set(allowed)
    alias, caller = stage.model(max_output_tokens=20), stage.caller()
    answer = caller.post(chat(alias), headers={"Origin": "https://app.example"})
    assert answer.headers["access-control-allow-origin"] == "https://app.example"
    exposed = answer.headers["access-control-expose-headers"].split(", ")
    assert {"x-service-charge-microusd", "request-id"} <= set(exposed)
    stranger = caller.post(chat(alias), headers={"Origin": "https://evil.example"})
    assert "access-control-allow-origin" not in stranger.headers


def test_several_requests_share_a_connection(stage: Stage) -> None:
    alias, caller = stage.model(max_output_tokens=20), stage.caller()
    with httpx.Client(limits=httpx.Limits(max_connections=1), timeout=30) as one:
        caller.client = one
        assert [caller.post(chat(alias)).status_code for _ in range(3)] == [200, 200, 200]
        assert caller.post({}, headers={"DPoP": None}).status_code == 401  # its body is never read
        assert caller.post(chat(alias)).status_code == 200


def test_a_handshake_without_a_route_is_refused(stage: Stage) -> None:
    async def shake() -> Any:
        with pytest.raises(websockets.InvalidStatus) as refused:
            await websockets.connect(stage.origin.replace("http", "ws") + "/v1/nothing")
        return refused.value.response

    response = asyncio.run(shake())
    assert response.status_code == 404
    assert b'"not_found"' in response.body


def test_daphne_serves_the_model_routes_too(stage: Stage) -> None:
    """Daphne sends no lifespan events, so everything is opened at its first use."""
    alias, caller = stage.model(max_output_tokens=20), stage.caller()
    arguments = ["-b", "127.0.0.1", "-p", "{port}", "-v", "0", "gateway.asgi:application"]
    with gateway_process("daphne", arguments) as (caller.origin, _):
        assert caller.post(chat(alias)).status_code == 200
        with caller.stream(chat(alias)) as answer:
            lines = [line for line in answer.iter_lines() if line]
    assert lines[-1].startswith(": service ")
    assert {call.state for call in caller.calls} == {"settled"}
