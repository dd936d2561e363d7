"""The first failed check determines the error. Each test breaks two adjacent checks and expects the earlier one's error."""

import time
import uuid
from typing import Any

import pytest

from tests.support.stage import CHAT, EMBEDDINGS, PRICE, Caller, Stage, chat


def code_of(answer: Any) -> Any:
    return answer.status_code, answer.json()["error"]["code"]


@pytest.fixture
def world(stage: Stage) -> Any:
    """A model, a caller with money, and a second caller whose token is for another model."""
    return stage, stage.model(max_output_tokens=20), stage.caller()


def refused(stage: Stage, caller: Caller, answer: Any, status: Any, code: Any) -> Any:
    """Check the answer, and that the request left nothing behind."""
    assert code_of(answer) == (status, code), answer.text
    assert caller.calls == []
    assert len(stage.upstream.ledger) == 0


def test_proof_before_body(world: Any) -> None:
    stage, _, caller = world
    proof = caller.signer.proof("POST", CHAT, caller.token, iat=int(time.time()) - 100)
    refused(stage, caller, caller.post(None, content=b"{", headers={"DPoP": proof}), 401, "invalid_dpop_proof")


def test_token_before_body(world: Any) -> None:
    stage, _, caller = world
    answer = caller.post(None, content=b"{", headers={"Authorization": "DPoP " + "a" * 40})
    refused(stage, caller, answer, 401, "invalid_token")


@pytest.mark.parametrize(
    ("content", "content_type", "status", "code"),
    [
        (b"{", "application/json", 400, "invalid_json"),
        (b"[]", "application/json", 400, "invalid_json"),
        (b'{"model": 1, "model": 2}', "application/json", 400, "invalid_json"),
        (b"{}", "text/plain", 415, "unsupported_media_type"),
        (b" " * (10 * 1024 * 1024 + 1), "application/json", 413, "request_too_large"),
    ],
)
def test_body_before_model_and_headers(world: Any, content: Any, content_type: Any, status: Any, code: Any) -> None:
    stage, _, caller = world
    answer = caller.post(None, content=content, key=None, max_cost=None, headers={"Content-Type": content_type})
    refused(stage, caller, answer, status, code)


@pytest.mark.parametrize("model", [None, 7, "", "no-such-model", "vendor/large-2"])
def test_model_before_headers(world: Any, model: Any) -> None:
    stage, _, caller = world
    answer = caller.post({"model": model, "messages": []}, key=None, max_cost=None)
    wanted = (404, "model_not_found") if isinstance(model, str) and model else (400, "invalid_request")
    refused(stage, caller, answer, *wanted)


def test_scope_before_headers(world: Any) -> None:
    stage, alias, _ = world
    caller = stage.caller(scopes=("infer:another",))
    answer = caller.post(chat(alias), key=None, max_cost=None)
    refused(stage, caller, answer, 403, "insufficient_scope")
    assert f'scope="infer:{alias}"' in answer.headers["www-authenticate"]
    assert answer.json()["error"]["message"] == f"The token lacks the scope infer:{alias}."


def test_missing_headers_before_the_idempotency_key_is_looked_up(world: Any) -> None:
    _, alias, caller = world
    assert caller.post(chat(alias), key="one").status_code == 200
    assert code_of(caller.post(chat(alias), key=None)) == (400, "idempotency_key_required")
    assert code_of(caller.post(chat(alias), key="one", max_cost=None)) == (400, "max_cost_required")
    assert len(caller.calls) == 1


@pytest.mark.parametrize("max_cost", ["0", "1000000001", "1.5", "-1", "+1", "1e3", "\u0661", "", "0x10", "9" * 40])
def test_a_malformed_maximum_is_refused(world: Any, max_cost: Any) -> None:
    stage, alias, caller = world
    answer = caller.post(chat(alias), headers={"x-service-max-cost-microusd": max_cost.encode()})
    refused(stage, caller, answer, 400, "invalid_request")
    assert answer.json()["error"]["param"] == "x-service-max-cost-microusd"


@pytest.mark.parametrize("key", ["", "a" * 256, "caf\u00e9", "tab\tinside", "\x7f"])
def test_a_malformed_idempotency_key_is_refused(world: Any, key: Any) -> None:
    stage, alias, caller = world
    answer = caller.post(chat(alias), headers={"Idempotency-Key": key.encode("latin-1")})
    if answer.status_code == 400 and "Invalid HTTP request" in answer.text:
        return  # the server's own parser refused it first
    refused(stage, caller, answer, 400, "invalid_request")
    assert answer.json()["error"]["param"] == "Idempotency-Key"


def test_a_message_without_a_role_is_refused(world: Any) -> None:
    stage, alias, caller = world
    answer = caller.post({"model": alias, "messages": [{"content": "Hello"}]})
    refused(stage, caller, answer, 400, "invalid_request")
    assert answer.json()["error"]["param"] == "messages.0.role"


def test_both_headers_twice_are_refused(world: Any) -> None:
    stage, alias, caller = world
    for name in ("Idempotency-Key", "x-service-max-cost-microusd"):
        sent = {
            **caller.headers(CHAT),
            "Content-Type": "application/json",
            "Idempotency-Key": "k",
            "x-service-max-cost-microusd": "5000",
        }
        headers = [*sent.items(), (name, "7")]
        answer = stage.client.post(stage.origin + CHAT, json=chat(alias), headers=headers)
        refused(stage, caller, answer, 400, "invalid_request")


def test_a_repeated_request_gets_its_answer_even_if_other_checks_fail_by_now(world: Any) -> None:
    stage, _, caller = world
    alias = stage.model(name=f"alias-{uuid.uuid4().hex}", max_output_tokens=20)
    body = chat(alias)
    first = caller.post(body, key="one")
    from inference.models import Alias
    from inference.queries import catalogue

    Alias.objects.filter(name=alias).update(enabled=False)
    catalogue.forget()
    assert caller.post(body, key="two").json()["error"]["code"] == "model_unavailable"
    again = caller.post(body, key="one", max_cost=1)
    assert (again.status_code, again.content) == (200, first.content)
    assert again.headers["idempotent-replayed"] == "true"


def test_a_reused_key_before_route_validation(world: Any) -> None:
    _, alias, caller = world
    assert caller.post(chat(alias), key="one").status_code == 200
    answer = caller.post({"model": alias, "messages": "wrong"}, key="one")
    assert code_of(answer) == (422, "idempotency_key_reused")


def test_route_validation_before_availability(stage: Stage) -> None:
    caller = stage.caller()
    unserved = stage.model(deploy=False, options={"routes": ["embeddings"]})
    answer = caller.post(chat(unserved))
    refused(stage, caller, answer, 400, "invalid_request")
    assert answer.json()["error"]["param"] == "model"
    unpriced = stage.model(price=None)
    refused(stage, caller, caller.post({"model": unpriced, "messages": []}), 400, "invalid_request")


def test_availability_before_maximum_cost(stage: Stage) -> None:
    caller = stage.caller()
    for alias in (
        stage.model(deploy=False),
        stage.model(enabled=False),
        stage.model(price=None),
        stage.model(price={"input_token": "1"}),
        stage.model(upstream=stage.upstream_row(api_key="")),
        stage.model(upstream=stage.upstream_row(enabled=False)),
        stage.model(upstream=stage.upstream_row(adapter="cohere")),
        "persona",
        "reasoning",
    ):
        refused(stage, caller, caller.post(chat(alias), max_cost=1), 503, "model_unavailable")


def test_maximum_cost_before_funds(stage: Stage) -> None:
    caller = stage.caller(balance=0)
    alias = stage.model(max_output_tokens=20)
    answer = caller.post(chat(alias, max_tokens=20), max_cost=1)
    refused(stage, caller, answer, 402, "max_cost_exceeded")
    required = answer.json()["error"]["details"]["requiredMicrousd"]
    message = f"The request needs at least {required} micro-USD, but x-service-max-cost-microusd allows only 1."
    assert answer.json()["error"]["message"] == message
    answer = caller.post(chat(alias, max_tokens=20), max_cost=required)
    refused(stage, caller, answer, 402, "insufficient_funds")
    assert answer.json()["error"]["details"] == {"requiredMicrousd": required, "availableMicrousd": 0}
    message = f"The request needs {required} micro-USD, but only 0 are available in the wallet."
    assert answer.json()["error"]["message"] == message
    assert PRICE


def test_a_proof_can_be_used_once_even_if_its_request_failed(world: Any) -> None:
    stage, alias, caller = world
    proof = caller.headers(CHAT)
    for body, wanted in (
        (b"{", (400, "invalid_json")),
        (b"{", (401, "invalid_dpop_proof")),
        (chat(alias), (401, "invalid_dpop_proof")),
    ):
        sent = {"content": body} if isinstance(body, bytes) else {}
        answer = caller.post(body, headers=proof, **sent)
        assert code_of(answer) == wanted
    assert caller.calls == []
    proof = caller.headers(CHAT)
    assert caller.post(chat(alias), headers=proof, max_cost=1).json()["error"]["code"] == "max_cost_exceeded"
    refused(stage, caller, caller.post(chat(alias), headers=proof), 401, "invalid_dpop_proof")


def test_a_used_proof_is_refused_before_a_replay(world: Any) -> None:
    _, alias, caller = world
    proof = caller.headers(CHAT)
    assert caller.post(chat(alias), key="one", headers=proof).status_code == 200
    assert code_of(caller.post(chat(alias), key="one", headers=proof)) == (401, "invalid_dpop_proof")


def test_a_suspended_account_is_refused_at_once(world: Any) -> None:
    from django.utils import timezone

    from accounts.models import Account

    stage, alias, caller = world
    Account.objects.filter(did=caller.did).update(suspended_at=timezone.now())
    refused(stage, caller, caller.post(chat(alias)), 401, "invalid_token")


def test_the_same_key_is_free_on_another_route_and_for_another_account(world: Any) -> None:
    stage, alias, caller = world
    embedding = stage.model(options={"routes": ["embeddings"]}, price={"input_token": "0.1"})
    assert caller.post(chat(alias), key="one").status_code == 200
    assert caller.post({"model": embedding, "input": "x"}, key="one", path=EMBEDDINGS).status_code == 200
    assert stage.caller().post(chat(alias), key="one").status_code == 200
