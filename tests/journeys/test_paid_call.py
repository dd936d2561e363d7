"""From an assertion to a receipt: one paid call over real sockets, in exact micro-USD."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import ROUND_CEILING, Decimal
from typing import Any

import httpx

from tests.journeys.caller import Caller, chat_body
from tests.support.concurrency import eventually
from tests.support.gateways import GatewayProcess
from tests.support.upstream import FakeUpstream

SignIn = Callable[[str], Caller]


def price_of(input_tokens: int, output_tokens: int) -> int:
    exact = Decimal("0.15") * input_tokens + Decimal("0.60") * output_tokens
    return int(exact.to_integral_value(ROUND_CEILING))


def receipt_of(stream: str) -> dict[str, Any]:
    last = [line for line in stream.splitlines() if line][-1]
    assert last.startswith(": service ")
    return json.loads(last.removeprefix(": service "))


def test_tells_who_is_calling(signed_in: SignIn) -> None:
    alice = signed_in("alice")
    account = alice.get("/v1/account").json()
    assert account["did"] == alice.did
    assert account["product"] == "studio"
    assert account["organization"] is None
    assert set(account["scopes"]) >= {"wallet:read", "infer:fast"}


def test_lists_enabled_aliases_with_prices(signed_in: SignIn) -> None:
    models = {model["id"]: model for model in signed_in("alice").get("/v1/models").json()["data"]}
    assert models["fast"]["pricing"] == {"input_token": "0.15", "cached_input_token": "0.075", "output_token": "0.60"}
    assert models["fast"]["authorized"] is True
    assert set(models["fast"]["routes"]) == {"chat.completions", "messages", "responses"}


def test_charges_what_the_upstream_reports(signed_in: SignIn, upstream: FakeUpstream) -> None:
    alice = signed_in("alice")
    before = alice.wallet()
    response = alice.chat("Tell me a story.")
    assert response.status_code == 200
    [served] = upstream.ledger
    charge = price_of(served.prompt_tokens, served.completion_tokens)
    assert response.json()["model"] == "fast"
    assert int(response.headers["x-service-charge-microusd"]) == charge
    after = alice.wallet()
    assert before["availableMicrousd"] - after["availableMicrousd"] == charge
    assert after["heldMicrousd"] == 0
    usage = alice.usage(limit=1)[0]
    assert usage["usageId"] == response.headers["x-service-usage-id"]
    assert (usage["status"], usage["chargedMicrousd"]) == ("settled", charge)
    assert (usage["inputTokens"], usage["outputTokens"]) == (served.prompt_tokens, served.completion_tokens)
    assert usage["model"] == "fast"
    assert usage["route"] == "chat.completions"


def test_streams_and_ends_with_a_receipt(signed_in: SignIn, upstream: FakeUpstream) -> None:
    alice = signed_in("alice")
    response = alice.chat(stream=True)
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/event-stream")
    [served] = upstream.ledger
    receipt = receipt_of(response.text)
    assert receipt["charge_microusd"] == price_of(served.prompt_tokens, served.completion_tokens)
    assert receipt["usage_id"] == response.headers["x-service-usage-id"]
    assert "data: [DONE]" in response.text
    events = [json.loads(line[6:]) for line in response.text.splitlines() if line.startswith("data: {")]
    assert {event["model"] for event in events} == {"fast"}
    assert all(event["choices"] for event in events), "the usage event was not asked for"
    assert served.id not in response.text


def test_embeds(signed_in: SignIn, upstream: FakeUpstream) -> None:
    response = signed_in("alice").post("/v1/embeddings", {"model": "embedding", "input": ["one", "two"]})
    assert response.status_code == 200
    assert [item["index"] for item in response.json()["data"]] == [0, 1]
    assert int(response.headers["x-service-charge-microusd"]) == 1


def test_answers_a_repeated_key_with_the_same_answer_and_charges_nothing(
    signed_in: SignIn, upstream: FakeUpstream
) -> None:
    alice = signed_in("alice")
    for stream in (False, True):
        upstream.reset()
        first = alice.chat(key=f"again-{stream}", stream=stream)
        before = alice.wallet()
        second = alice.chat(key=f"again-{stream}", stream=stream)
        assert second.content == first.content
        assert second.headers["Idempotent-Replayed"] == "true"
        assert second.headers["x-service-usage-id"] == first.headers["x-service-usage-id"]
        assert alice.wallet() == before
        assert len(upstream.ledger.entries) == 1


def test_refuses_a_key_with_another_body(signed_in: SignIn) -> None:
    alice = signed_in("alice")
    assert alice.chat("One.", key="one-body").status_code == 200
    response = alice.chat("Two.", key="one-body")
    assert response.status_code == 422
    assert response.json()["error"]["code"] == "idempotency_key_reused"


def test_admits_exactly_what_a_wallet_pays_for(signed_in: SignIn, upstream: FakeUpstream) -> None:
    """Fifty at once on a wallet of 1,000 micro-USD whose calls hold 100 each."""
    carol = signed_in("carol")
    body = chat_body(stream=True)
    with ThreadPoolExecutor(50) as pool, httpx.Client(base_url=carol.base_url, timeout=60) as http:
        headers = [carol.paid_headers("/v1/chat/completions", 100) for _ in range(50)]
        with upstream.holding():  # no call ends, and frees its hold, before all have been decided on
            calls = [pool.submit(http.post, "/v1/chat/completions", json=body, headers=one) for one in headers]
            eventually(lambda: sum(call.done() for call in calls) + len(upstream.ledger) >= 50)
        responses = [call.result() for call in calls]
    admitted = [r for r in responses if r.status_code == 200]
    refused = [r.json()["error"]["code"] for r in responses if r.status_code != 200]
    holds = [int(r.headers["x-service-hold-microusd"]) for r in admitted]
    assert len(admitted) == 1_000 // holds[0]
    assert refused == ["insufficient_funds"] * (50 - len(admitted))
    assert len(upstream.ledger.entries) == len(admitted)
    assert carol.wallet()["heldMicrousd"] == 0


def test_refuses_what_the_stated_maximum_does_not_buy(signed_in: SignIn, upstream: FakeUpstream) -> None:
    alice = signed_in("alice")
    before = alice.wallet()
    response = alice.chat("word " * 1000, max_cost=1)
    assert response.status_code == 402
    error = response.json()["error"]
    assert error["code"] == "max_cost_exceeded"
    assert error["details"]["requiredMicrousd"] > 1
    assert list(upstream.ledger) == []
    assert alice.wallet() == before


def test_sends_upstream_the_output_limit_that_the_maximum_buys(signed_in: SignIn, upstream: FakeUpstream) -> None:
    alice = signed_in("alice")
    upstream.script(text="word " * 3000)
    response = alice.chat(max_cost=100)
    [served] = upstream.ledger
    assert 0 < served.completion_tokens < 167
    assert int(response.headers["x-service-charge-microusd"]) <= 100
    assert int(response.headers["x-service-hold-microusd"]) <= 100


def test_tells_nothing_of_the_upstream(signed_in: SignIn, upstream: FakeUpstream) -> None:
    alice = signed_in("alice")
    upstream.script("secret-error")
    response = alice.chat()
    assert response.status_code == 502
    text = response.text + str(response.headers)
    assert "sk-" not in text
    assert "traceback" not in text
    assert alice.wallet()["heldMicrousd"] == 0


def test_names_what_is_missing(signed_in: SignIn) -> None:
    alice = signed_in("alice")
    path = "/v1/chat/completions"
    for left_out, code in (
        ("Idempotency-Key", "idempotency_key_required"),
        ("x-service-max-cost-microusd", "max_cost_required"),
    ):
        headers = alice.paid_headers(path)
        del headers[left_out]
        response = alice.http.post(path, json=chat_body(), headers=headers)
        assert (response.status_code, response.json()["error"]["code"]) == (400, code)
    assert alice.post(path, chat_body(model="persona")).json()["error"]["code"] == "model_unavailable"
    assert alice.post(path, chat_body(model="no-such")).json()["error"]["code"] == "model_not_found"
    assert alice.post(path, chat_body(model="balanced")).json()["error"]["code"] == "insufficient_scope"
    assert alice.post(path, chat_body(model="embedding")).json()["error"]["param"] == "model"


def test_takes_a_proof_once(signed_in: SignIn) -> None:
    alice = signed_in("alice")
    headers = alice.headers("GET", "/v1/wallet")
    assert alice.http.get("/v1/wallet", headers=headers).status_code == 200
    replayed = alice.http.get("/v1/wallet", headers=headers)
    assert replayed.status_code == 401
    assert replayed.json()["error"]["code"] == "invalid_dpop_proof"
    assert replayed.headers["WWW-Authenticate"].startswith('DPoP error="invalid_dpop_proof"')


def test_charges_a_client_that_leaves_for_what_was_delivered(signed_in: SignIn, upstream: FakeUpstream) -> None:
    dave = signed_in("dave")
    upstream.script(text="word " * 2000, token_delay_ms=5)
    headers = dave.paid_headers("/v1/chat/completions")
    with dave.http.stream("POST", "/v1/chat/completions", json=chat_body(stream=True), headers=headers) as response:
        for line in response.iter_lines():
            if "word" in line:
                break
    eventually(lambda: dave.usage(limit=1)[0]["status"] != "held")
    usage = dave.usage(limit=1)[0]
    [served] = upstream.ledger
    eventually(lambda: served.outcome == "left")
    assert usage["status"] == "settled"
    assert 0 < usage["chargedMicrousd"] <= price_of(served.prompt_tokens, served.completion_tokens) + 1
    assert dave.wallet()["heldMicrousd"] == 0


def test_finds_its_books_in_order(gateway: GatewayProcess) -> None:
    audit = gateway.manage("audit_ledger")
    assert audit.returncode == 0, audit.stdout + audit.stderr
