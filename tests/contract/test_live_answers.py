"""Answers of a running gateway are as the OpenAPI document says, errors included."""

import json
import re
import uuid
from typing import Any

import pytest
import requests

from account_gateway_client import Gateway, call_headers
from tests.contract.document import answer_schema, operations, validate
from tests.support.demo_gateway import DemoGateway

SCOPES = ("wallet:read", "usage:read", "infer:fast", "infer:embedding", "infer:audio", "infer:persona")
CHAT: dict[str, Any] = {"model": "fast", "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 20}


@pytest.fixture(scope="module")
def gateway(demo_gateway: DemoGateway) -> Gateway:
    return demo_gateway.sign_in(*SCOPES)


def metering(max_cost_microusd: int = 20_000, key: str | None = None) -> dict[str, str]:
    return call_headers(max_cost_microusd=max_cost_microusd, idempotency_key=key or str(uuid.uuid4()))


def check(response: requests.Response, method: str, path: str, status: int) -> Any:
    """Check status, headers and body of an answer against its description; return the body."""
    assert response.status_code == status, response.text
    operation = operations()[method, path]
    assert response.headers["X-Request-Id"]
    if path.startswith("/v1/"):
        assert response.headers["Cache-Control"] == "no-store"
    body = response.json()
    validate(body, answer_schema(operation, status))
    return body


@pytest.mark.parametrize(
    "path",
    [
        *("/v1/account", "/v1/account/budgets", "/v1/models", "/v1/wallet", "/v1/usage"),
        *("/.well-known/jwks.json", "/healthz", "/readyz", "/livez"),
    ],
)
def test_reads(gateway: Gateway, path: str) -> None:
    gateway.request("POST", "/v1/chat/completions", json=CHAT, headers=metering())
    response = gateway.request("GET", path)
    operation = operations()["GET", path]
    assert response.status_code == 200
    validate(response.json(), answer_schema(operation, 200))


METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")


@pytest.mark.parametrize("path", sorted({path for _, path in operations() if not path.startswith("/.well-known/")}))
def test_a_method_that_is_not_allowed_is_405_whoever_asks(gateway: Gateway, path: str) -> None:
    allowed = {method for method, described in operations() if described == path}
    allowed |= {"HEAD"} if "GET" in allowed and path != "/v1/realtime" else set()
    path = re.sub(r"\{\w+\}", "unknown", path)
    for method in (method for method in METHODS if method not in allowed):
        for response in (requests.request(method, gateway.base_url + path, timeout=60), gateway.request(method, path)):
            assert response.status_code == 405, (method, response.text)
            assert set(response.headers["Allow"].split(", ")) == allowed
            if path.startswith("/v1/") and method != "HEAD":
                assert "method_not_allowed" in response.text


@pytest.mark.parametrize("path", ["oauth-authorization-server", "oauth-protected-resource"])
def test_metadata(demo_gateway: DemoGateway, path: str) -> None:
    response = requests.get(f"{demo_gateway.base_url}/.well-known/{path}", timeout=60)
    check(response, "GET", f"/.well-known/{path}", 200)


def test_one_model(gateway: Gateway) -> None:
    check(gateway.request("GET", "/v1/models/fast"), "GET", "/v1/models/{model}", 200)
    check(gateway.request("GET", "/v1/models/no-such"), "GET", "/v1/models/{model}", 404)


def test_chat_and_embeddings(gateway: Gateway) -> None:
    chat = gateway.request("POST", "/v1/chat/completions", json=CHAT, headers=metering())
    check(chat, "POST", "/v1/chat/completions", 200)
    described = operations()["POST", "/v1/chat/completions"]["responses"]["200"]["headers"]
    for name in ("x-service-usage-id", "x-service-hold-microusd", "x-service-charge-microusd"):
        assert name in chat.headers
        assert name in described
    embeddings = gateway.request(
        "POST", "/v1/embeddings", json={"model": "embedding", "input": ["a", "b"]}, headers=metering()
    )
    check(embeddings, "POST", "/v1/embeddings", 200)


def test_messages(gateway: Gateway) -> None:
    message = dict(CHAT)
    answer = gateway.request("POST", "/v1/messages", json=message, headers=metering())
    assert check(answer, "POST", "/v1/messages", 200)["type"] == "message"
    refused = gateway.request("POST", "/v1/messages", json={**message, "max_tokens": None}, headers=metering())
    assert check(refused, "POST", "/v1/messages", 400)["error"]["param"] == "max_tokens"
    count = {name: value for name, value in message.items() if name != "max_tokens"}
    counted = gateway.request("POST", "/v1/messages/count_tokens", json=count)
    assert check(counted, "POST", "/v1/messages/count_tokens", 200)["input_tokens"] > 0
    streamed = gateway.request("POST", "/v1/messages", json={**message, "stream": True}, headers=metering())
    answer_schema(operations()["POST", "/v1/messages"], 200, "text/event-stream")
    *events, receipt = [block for block in streamed.text.split("\n\n") if block]
    assert [events[0].split("\n")[0], events[-1].split("\n")[0]] == ["event: message_start", "event: message_stop"]
    assert set(json.loads(receipt.removeprefix(": service "))) == {"usage_id", "charge_microusd"}


def test_audio(gateway: Gateway) -> None:
    speech = {"model": "audio", "input": "Hello.", "voice": "alloy", "response_format": "wav"}
    spoken = gateway.request("POST", "/v1/audio/speech", json=speech, headers=metering())
    assert (spoken.status_code, spoken.headers["Content-Type"]) == (200, "audio/wav")
    answer_schema(operations()["POST", "/v1/audio/speech"], 200, "audio/*")
    for path in ("/v1/audio/transcriptions", "/v1/audio/translations"):
        file = {"file": ("a.wav", spoken.content)}
        answer = gateway.request("POST", path, data={"model": "audio"}, files=file, headers=metering())
        assert check(answer, "POST", path, 200)["usage"] == {"type": "duration", "seconds": 1}
        refused = gateway.request("POST", path, json={"model": "audio"}, headers=metering())
        assert check(refused, "POST", path, 415)["error"]["code"] == "unsupported_media_type"


def test_a_stream_is_of_events_that_parse_and_ends_with_its_receipt(gateway: Gateway) -> None:
    response = gateway.request("POST", "/v1/chat/completions", json=CHAT | {"stream": True}, headers=metering())
    assert response.headers["Content-Type"].startswith("text/event-stream")
    answer_schema(operations()["POST", "/v1/chat/completions"], 200, "text/event-stream")
    *events, done, receipt = [block for block in response.text.split("\n\n") if block]
    assert done == "data: [DONE]"
    assert set(json.loads(receipt.removeprefix(": service "))) == {"usage_id", "charge_microusd"}
    assert {json.loads(event.removeprefix("data: "))["object"] for event in events} == {"chat.completion.chunk"}


def test_a_replay_is_the_same_answer_and_says_so(gateway: Gateway) -> None:
    headers = metering()
    first, second = (gateway.request("POST", "/v1/chat/completions", json=CHAT, headers=headers) for _ in range(2))
    check(second, "POST", "/v1/chat/completions", 200)
    assert second.content == first.content
    assert "Idempotent-Replayed" not in first.headers
    assert second.headers["Idempotent-Replayed"] == "true"


@pytest.mark.parametrize(
    ("status", "code", "body", "headers"),
    [
        (400, "idempotency_key_required", CHAT, {}),
        (400, "max_cost_required", CHAT, {"Idempotency-Key": "k"}),
        (400, "invalid_request", CHAT | {"messages": 1}, metering()),
        (402, "max_cost_exceeded", CHAT, metering(1)),
        (403, "insufficient_scope", CHAT | {"model": "reasoning"}, metering()),
        (404, "model_not_found", CHAT | {"model": "nothing"}, metering()),
        (503, "model_unavailable", CHAT | {"model": "persona"}, metering()),
    ],
)
def test_refusals_of_a_metered_call(
    gateway: Gateway, status: int, code: str, body: dict[str, Any], headers: dict[str, str]
) -> None:
    response = gateway.request("POST", "/v1/chat/completions", json=body, headers=headers)
    assert check(response, "POST", "/v1/chat/completions", status)["error"]["code"] == code


def test_a_missing_proof_is_challenged(demo_gateway: DemoGateway) -> None:
    for method, path in (("GET", "/v1/wallet"), ("POST", "/v1/chat/completions")):
        response = requests.request(method, demo_gateway.base_url + path, json={}, timeout=60)
        assert check(response, method, path, 401)["error"]["code"] == "invalid_dpop_proof"
        assert response.headers["WWW-Authenticate"].startswith('DPoP error="invalid_dpop_proof", error_description="')


def test_token_routes_refuse_as_oauth_does(demo_gateway: DemoGateway) -> None:
    exchange = requests.post(
        f"{demo_gateway.base_url}/v1/auth/token/exchange", json={"assertion": "no", "dpop_jwk": {}}, timeout=60
    )
    assert check(exchange, "POST", "/v1/auth/token/exchange", 400)["param"] == "dpop_jwk"
    standard = requests.post(f"{demo_gateway.base_url}/v1/oauth/token", data={"grant_type": "password"}, timeout=60)
    assert check(standard, "POST", "/v1/oauth/token", 400)["error"] == "unsupported_grant_type"
