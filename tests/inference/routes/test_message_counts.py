"""`POST /v1/messages/count_tokens`: the vendor's count where it can be had, else our bound; nothing is charged."""

from typing import Any

import httpx
import pytest

from tests.inference.routes.scripted_upstream import ScriptedUpstream
from tests.support.stage import Caller, Stage

PATH = "/v1/messages/count_tokens"
HELLO = [{"role": "user", "content": "Say something about badgers."}]


def count(caller: Caller, alias: str, **members: Any) -> httpx.Response:
    body = {"model": alias, "messages": HELLO, **members}
    return caller.post(body, path=PATH, key=None, max_cost=None)


def model_of(stage: Stage, model: str = "small-1", **upstream: Any) -> str:
    return stage.model(model, upstream=stage.upstream_row(**upstream))


def test_the_vendors_count_is_answered(stage: Stage) -> None:
    alias, caller = model_of(stage, adapter="anthropic"), stage.caller()
    answer = count(caller, alias, system="Be brief.")
    assert (answer.status_code, answer.json()) == (200, {"input_tokens": -(-37 // 4)})
    assert not [name for name in answer.headers if name.startswith("x-service")]
    assert (caller.calls, caller.wallet["held"]) == ([], 0)


@pytest.mark.parametrize("row", [{}, {"adapter": "anthropic", "base_url": "http://127.0.0.1:9/v1"}])
def test_without_the_vendors_count_our_bound_is_answered(stage: Stage, row: dict[str, Any]) -> None:
    alias, caller = model_of(stage, **row), stage.caller()
    bound = count(caller, alias).json()["input_tokens"]
    assert bound > 28  # never fewer tokens than the text has bytes
    assert stage.upstream.ledger.entries == []


def test_an_upstream_that_fails_is_answered_by_our_bound(stage: Stage) -> None:
    alias, caller = model_of(stage, "small-1?status=500", adapter="anthropic"), stage.caller()
    assert count(caller, alias).json()["input_tokens"] > 28


def test_who_has_no_funds_gets_our_bound_and_reaches_no_upstream(stage: Stage) -> None:
    alias, caller = model_of(stage, adapter="anthropic"), stage.caller(balance=0)
    assert count(caller, alias).json()["input_tokens"] > 28


def test_who_has_no_scope_is_refused(stage: Stage) -> None:
    alias, caller = model_of(stage, adapter="anthropic"), stage.caller(scopes=("infer:other",))
    answer = count(caller, alias)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "insufficient_scope")


def test_a_proof_counts_once(stage: Stage) -> None:
    alias, caller = model_of(stage, adapter="anthropic"), stage.caller()
    headers = {**caller.headers(PATH), "Content-Type": "application/json"}
    body = {"model": alias, "messages": HELLO}
    first, second = (caller.client.post(caller.origin + PATH, json=body, headers=headers) for _ in range(2))
    assert (first.status_code, second.status_code) == (200, 401)


@pytest.mark.parametrize(
    ("members", "param"),
    [
        ({"messages": []}, "messages"),
        ({"stream": True}, "stream"),
        ({"container": "c"}, "container"),
        ({"tools": [{"type": "web_search_20250305"}]}, "tools"),
        ({"model": "nothing"}, "model"),
    ],
)
def test_bad_input_names_its_member(stage: Stage, members: dict[str, Any], param: str) -> None:
    alias, caller = model_of(stage, adapter="anthropic"), stage.caller()
    answer = count(caller, alias, **members)
    assert answer.status_code in (400, 404), answer.text
    assert (answer.json()["type"], answer.json()["error"]["param"]) == ("error", param)


def test_a_model_of_other_routes_is_refused(stage: Stage) -> None:
    alias = stage.model(upstream=stage.upstream_row(adapter="anthropic"), options={"routes": ["embeddings"]})
    answer = count(stage.caller(), alias)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "model")


def test_a_count_that_is_none_is_answered_by_our_bound(stage: Stage) -> None:
    caller = stage.caller()
    with ScriptedUpstream() as liar:
        alias = model_of(stage, adapter="anthropic", base_url=liar.base_url)
        for counted in (-1, 10**18, 1e300, "7", None, True, 7.5, [7]):
            liar.player.says = {"input_tokens": counted}
            answer = count(caller, alias)
            assert 28 < answer.json()["input_tokens"] < 200, counted
        liar.player.says = [{"type": "message_start"}]
        assert count(caller, alias).json()["input_tokens"] > 28


def test_thinking_that_no_provider_signed_is_not_counted(stage: Stage) -> None:
    with ScriptedUpstream() as upstream:
        alias = model_of(stage, adapter="anthropic", base_url=upstream.base_url)
        upstream.player.says = {"input_tokens": 7}
        thought = {"type": "thinking", "thinking": "hm", "signature": ""}
        messages = [*HELLO, {"role": "assistant", "content": [thought, {"type": "text", "text": "x"}]}]
        assert count(stage.caller(), alias, messages=messages).json() == {"input_tokens": 7}
        [sent] = upstream.player.requests
        assert sent["messages"][1]["content"] == [{"type": "text", "text": "x"}]
