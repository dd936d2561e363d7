"""What a message costs when its client leaves, its deployments differ, its answer is repeated or its process dies."""

from typing import Any

import pytest

from tests.inference.routes.scripted_upstream import ScriptedUpstream
from tests.inference.routes.test_message_streams import BLOCK, END, OVERLOADED, START, put_together
from tests.inference.routes.test_messages import FORMS, HELLO, PATH, PRICE, message_in, model_of, send
from tests.support.concurrency import at_once, eventually
from tests.support.stage import CHAT, Caller, Stage, chat

OTHERS = [(first, second) for first in FORMS for second in FORMS if first != second]


def two_deployments(stage: Stage, first: str, second: str, model: str = "small-1", **upstream: Any) -> str:
    """Return an alias with a failing deployment of one form, and one of another form that is tried after it."""
    from inference.models import Alias, Deployment
    from inference.queries import catalogue

    failing = stage.upstream_row(**{**FORMS[first], **upstream})
    alias = stage.model(model, upstream=failing, price=PRICE)
    working = stage.upstream_row(**FORMS[second])
    Deployment.objects.create(
        alias=Alias.objects.get(name=alias), upstream=working, model="small-1?tokens=4", priority=9
    )
    catalogue.forget()
    return alias


@pytest.mark.parametrize(("first", "second"), OTHERS)
@pytest.mark.parametrize("streams", [False, True], ids=["json", "stream"])
def test_a_deployment_of_another_form_takes_an_overloaded_call(
    stage: Stage, first: str, second: str, streams: bool
) -> None:
    alias, caller = two_deployments(stage, first, second, "small-1?status=429"), stage.caller()
    message = message_in(send(caller, alias, streams=streams, service_tier="auto"), streams=streams)
    assert message["content"] == [{"type": "text", "text": "the quick brown fox"}]
    refused, served = stage.upstream.ledger.entries
    assert (refused.outcome, served.outcome) == ("refused", "complete")
    call = caller.only_call
    assert (call.state, call.charge_microusd) == ("settled", served.prompt_tokens * 3 + 4 * 15)


@pytest.mark.parametrize("second", ["chat", "responses"])
def test_an_overload_in_the_first_event_goes_to_another_form(stage: Stage, second: str) -> None:
    with ScriptedUpstream() as overloaded:
        overloaded.player.says = [OVERLOADED]
        alias, caller = two_deployments(stage, "anthropic", second, base_url=overloaded.base_url), stage.caller()
        message = put_together(send(caller, alias, streams=True).text)
    assert (message.content[0].text, len(overloaded.player.requests)) == ("the quick brown fox", 1)
    assert caller.only_call.state == "settled"


def test_a_request_that_one_form_cannot_express_is_sent_to_the_other_alone(stage: Stage) -> None:
    alias, caller = two_deployments(stage, "anthropic", "chat", "small-1?status=429"), stage.caller()
    answer = send(caller, alias, top_k=5)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "upstream_overloaded")
    assert {entry.path for entry in stage.upstream.ledger.entries} == {"/messages"}
    assert (caller.only_call.state, caller.wallet["held"]) == ("released", 0)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("events", [0, 1, 2, 3, 6])
def test_a_client_that_leaves_pays_for_what_it_received(stage: Stage, form: str, events: int) -> None:
    alias = model_of(stage, form, "small-1?tokens=500&token_delay_ms=15")
    caller, body = stage.caller(), {"model": alias, "max_tokens": 1000, "messages": HELLO}
    with caller.stream(body, key="left", path=PATH) as answer:
        lines = answer.iter_lines()
        for _ in range(events):
            next(line for line in lines if line.startswith("data: "))
    eventually(lambda: caller.calls[0].state == "settled")
    call, [entry] = caller.only_call, stage.upstream.ledger.entries
    record = call.usage_record
    assert record.basis == "delivered"
    assert record.input_tokens == (entry.prompt_tokens if form == "anthropic" and events else record.input_tokens)
    assert record.input_tokens > 0
    assert record.output_tokens <= entry.completion_tokens + 1 < 500
    assert call.charge_microusd == record.input_tokens * 3 + record.output_tokens * 15
    assert caller.wallet == {"balance": 1_000_000 - call.charge_microusd, "held": 0, "debt": 0}
    again = caller.post({**body, "stream": True}, path=PATH, key="left")
    assert again.headers["idempotent-replayed"] == "true"
    assert put_together(again.text) == "upstream_error"


def test_keys_are_those_of_a_route(stage: Stage) -> None:
    alias, caller = model_of(stage, "anthropic"), stage.caller()
    body = {"model": alias, "max_tokens": 10, "messages": HELLO}
    message, other = caller.post(body, path=PATH, key="one"), caller.post(chat(alias), path=CHAT, key="one")
    assert (message.json()["type"], other.json()["object"]) == ("message", "chat.completion")
    assert caller.post({**body, "max_tokens": 11}, path=PATH, key="one").status_code == 422
    assert [call.route for call in caller.calls] == ["messages", "chat.completions"]


@pytest.mark.parametrize("streams", [False, True], ids=["json", "stream"])
def test_a_key_that_is_used_at_once_calls_once(stage: Stage, streams: bool) -> None:
    alias, caller = model_of(stage, "anthropic", "small-1?delay_ms=200"), stage.caller()
    body = {"model": alias, "max_tokens": 10, "messages": HELLO, "stream": streams}
    answers = at_once(*[lambda: caller.post(body, path=PATH, key="one")] * 8)
    assert {answer.status_code for answer in answers} <= {200, 409}
    assert all(answer.json()["error"]["type"] == "rate_limit_error" for answer in answers if answer.status_code == 409)
    assert len(stage.upstream.ledger.entries) == len(caller.calls) == 1


def test_counts_at_once_cost_nothing(stage: Stage) -> None:
    alias, caller = model_of(stage, "anthropic"), stage.caller()
    body = {"model": alias, "messages": HELLO}

    def counted() -> Any:
        return caller.post(body, path=f"{PATH}/count_tokens", key=None, max_cost=None)

    assert {answer.text for answer in at_once(*[counted] * 20)} == {'{"input_tokens":7}'}
    assert (caller.calls, caller.wallet) == ([], {"balance": 1_000_000, "held": 0, "debt": 0})


def spent(caller: Caller) -> int:
    return 1_000_000 - caller.wallet["balance"]


def test_whatever_is_charged_is_within_the_hold(stage: Stage) -> None:
    with ScriptedUpstream() as liar:
        alias = stage.model(upstream=stage.upstream_row(adapter="anthropic", base_url=liar.base_url), price=PRICE)
        caller = stage.caller()
        liar.player.says = [START, *BLOCK, {**END[0], "usage": {"input_tokens": 10**6, "output_tokens": 10**6}}, END[1]]
        send(caller, alias, streams=True)
        call = caller.only_call
    assert (call.state, call.charge_microusd, spent(caller)) == ("settled", call.hold_microusd, call.hold_microusd)
