"""`POST /v1/responses` as JSON: what is held, sent, answered and charged."""

from typing import Any

from tests.support.stage import RESPONSES, Caller, Stage, ask
from tests.support.upstream import LEAKS
from tests.support.upstream.tokens import count_text

READ = ("infer:*", "responses:read", "responses:delete")
CALLED = {"type": "function", "name": "get_weather", "strict": False, "parameters": {"type": "object"}}


def respond(caller: Caller, body: dict[str, Any], **options: Any) -> Any:
    """Send a request for a response."""
    return caller.post(body, path=RESPONSES, **options)


def cost_of(usage: dict[str, Any]) -> int:
    """Price a usage at the stage's prices."""
    cached = usage["input_tokens_details"]["cached_tokens"]
    plain = usage["input_tokens"] - cached
    return -(-(plain * 150_000 + cached * 75_000 + usage["output_tokens"] * 600_000) // 10**6)


def test_a_response_is_held_answered_and_charged_exactly(stage: Stage) -> None:
    alias, caller = stage.model(max_output_tokens=100), stage.caller(balance=1_000)
    body = ask(alias)
    answer = respond(caller, body)
    assert answer.status_code == 200, answer.text
    response = answer.json()
    assert response["id"].startswith("resp_")
    assert (response["object"], response["status"], response["model"]) == ("response", "completed", alias)
    assert (response["store"], response["previous_response_id"], response["background"]) == (True, None, False)
    [entry] = stage.upstream.ledger
    assert response["usage"]["input_tokens"] == count_text(body["input"])
    call, cost = caller.only_call, cost_of(response["usage"])
    assert answer.headers["x-service-charge-microusd"] == str(cost)
    assert answer.headers["x-service-usage-id"] == call.id == entry.caller_key
    assert answer.headers["x-service-hold-microusd"] == str(call.hold_microusd)
    assert (call.state, call.route, call.charge_microusd) == ("settled", "responses", cost)
    assert caller.wallet == {"balance": 1_000 - cost, "held": 0, "debt": 0}
    assert not [leak for leak in LEAKS if leak in answer.text]


def test_nothing_is_stored_at_the_upstream_and_its_limit_is_ours(stage: Stage) -> None:
    alias, caller = stage.model(max_output_tokens=100), stage.caller()
    respond(caller, ask(alias, store=True, instructions="Be brief.", metadata={"a": "b"}))
    [entry] = stage.upstream.ledger
    assert entry.body == {
        "model": "small-1",
        "input": ask(alias)["input"],
        "instructions": "Be brief.",
        "metadata": {"a": "b"},
        "max_output_tokens": 100,
        "store": False,
        "service_tier": "default",
    }
