"""The vendor's agents SDK runs its loops through the gateway unchanged: only its HTTP client proves each request."""

import asyncio
from typing import Any, Literal
from urllib.parse import urlencode

import openai
import pytest
from openai.types.shared import Reasoning
from pydantic import BaseModel

from billing.rules.cost import cost_microusd
from billing.rules.prices import PriceList
from billing.rules.quantities import Quantities
from tests.support.stage import PRICE, Caller, Stage

SCOPES = ("infer:*", "responses:read")
BALANCE = 1_000_000
Streaming = Literal["whole", "streamed"]


class Place(BaseModel):
    """A structured answer."""

    city: str


@pytest.fixture(params=["responses", "chat.completions"])
def called(request: pytest.FixtureRequest) -> str:
    """The route that the SDK calls."""
    return str(request.param)


@pytest.fixture(params=["responses", "chat.completions"])
def known(request: pytest.FixtureRequest) -> str:
    """The one route that the upstream knows."""
    return str(request.param)


@pytest.fixture(params=["whole", "streamed"])
def streaming(request: pytest.FixtureRequest) -> Streaming:
    """Whether the SDK streams."""
    return "streamed" if request.param == "streamed" else "whole"


def loops() -> Any:
    """Import the SDK only now: while tests are collected, each worker would, and it takes a second."""
    from tests.inference.routes import agent_loops

    return agent_loops


def alias_at(stage: Stage, known: str, model: str = "small-1") -> str:
    return stage.model(model, max_output_tokens=100, upstream=stage.upstream_row(options={"routes": [known]}))


def assert_paid(caller: Caller, result: Any, calls: int) -> None:
    """Compare every call with the usage that the SDK got."""
    usages = [response.usage for response in result.raw_responses]
    costs = [
        cost_microusd(
            Quantities(input_tokens=usage.input_tokens, cached_input_tokens=0, output_tokens=usage.output_tokens),
            PriceList.parse(PRICE),
        )
        for usage in usages
    ]
    assert [(call.state, call.charge_microusd) for call in caller.calls] == [("settled", cost) for cost in costs]
    assert len(costs) == calls
    assert caller.wallet == {"balance": BALANCE - sum(costs), "held": 0, "debt": 0}


def test_a_tool_loop(stage: Stage, called: str, known: str, streaming: Streaming) -> None:
    caller, alias = stage.caller(scopes=SCOPES, balance=BALANCE), alias_at(stage, known)
    agent = {
        "tools": [loops().get_weather],
        "instructions": "Be brief.",
        "model_settings": loops().ModelSettings(include_usage=True),
    }
    result = asyncio.run(loops().run(caller, called, alias, streaming, **agent))
    kinds = [item.type for item in result.new_items]
    assert kinds == ["tool_call_item", "tool_call_output_item", "message_output_item"]
    assert result.new_items[1].output == "sunny in Reykjavík"
    assert len(result.final_output.split()) == 16
    assert_paid(caller, result, calls=2)


def test_parallel_calls(stage: Stage, called: str, streaming: Streaming) -> None:
    caller, alias = stage.caller(scopes=SCOPES, balance=BALANCE), alias_at(stage, "responses", "small-1?calls=3")
    agent = {
        "tools": [loops().get_weather],
        "model_settings": loops().ModelSettings(include_usage=True, parallel_tool_calls=True),
    }
    result = asyncio.run(loops().run(caller, called, alias, streaming, **agent))
    kinds = [item.type for item in result.new_items]
    assert (kinds.count("tool_call_item"), kinds.count("tool_call_output_item")) == (3, 3)
    assert_paid(caller, result, calls=2)


def test_the_next_turn_sends_back_the_whole_conversation(
    stage: Stage, called: str, known: str, streaming: Streaming
) -> None:
    caller, alias = stage.caller(scopes=SCOPES), alias_at(stage, known)
    first = asyncio.run(loops().run(caller, called, alias, streaming, tools=[loops().get_weather]))
    turns = [*first.to_input_list(), {"role": "user", "content": "And?"}]
    second = asyncio.run(loops().run(caller, called, alias, streaming, turns, tools=[loops().get_weather]))
    assert second.final_output


def test_a_loop_over_stored_responses(stage: Stage, known: str, streaming: Streaming) -> None:
    caller, alias = stage.caller(scopes=SCOPES, balance=BALANCE), alias_at(stage, known)
    agent = {"tools": [loops().get_weather], "auto_previous_response_id": True}
    result = asyncio.run(loops().run(caller, "responses", alias, streaming, **agent))
    assert len(result.final_output.split()) == 16
    assert_paid(caller, result, calls=2)


def test_reasoning_goes_back(stage: Stage, called: str, known: str, streaming: Streaming) -> None:
    caller, alias = stage.caller(scopes=SCOPES), alias_at(stage, known, "small-1?reasoning_tokens=9")
    settings = loops().ModelSettings(reasoning=Reasoning(effort="high"), include_usage=True)
    result = asyncio.run(
        loops().run(caller, called, alias, streaming, tools=[loops().get_weather], model_settings=settings)
    )
    assert [response.usage.output_tokens_details.reasoning_tokens for response in result.raw_responses] == [9, 9]


def test_reasoning_goes_back_encrypted_where_nothing_is_stored(stage: Stage, streaming: Streaming) -> None:
    caller, alias = stage.caller(scopes=SCOPES), alias_at(stage, "responses", "small-1?reasoning_tokens=9")
    settings = loops().ModelSettings(store=False, response_include=["reasoning.encrypted_content"])
    result = asyncio.run(
        loops().run(caller, "responses", alias, streaming, tools=[loops().get_weather], model_settings=settings)
    )
    assert result.final_output
    sent = stage.upstream.ledger.entries[-1].body["input"]
    assert [item.get("encrypted_content") for item in sent if item.get("type") == "reasoning"] == ["gAAAA-thoughts"]


def test_a_structured_answer(stage: Stage, called: str, known: str, streaming: Streaming) -> None:
    model = "small-1?" + urlencode({"text": '{"city":"Reykjavík"}'})
    caller, alias = stage.caller(scopes=SCOPES), alias_at(stage, known, model)
    result = asyncio.run(loops().run(caller, called, alias, streaming, output_type=Place))
    assert result.final_output == Place(city="Reykjavík")


def test_a_handoff(stage: Stage, called: str, known: str, streaming: Streaming) -> None:
    caller, alias = stage.caller(scopes=SCOPES), alias_at(stage, known)
    result = asyncio.run(loops().hand_over(caller, called, alias, streaming))
    assert result.last_agent.name == "Expert"
    assert len(result.final_output.split()) == 16


@pytest.mark.parametrize("preset", ["cut-mid-stream", "error-event"])
def test_a_stream_that_breaks_off_raises_the_sdks_error(stage: Stage, called: str, known: str, preset: str) -> None:
    caller, alias = stage.caller(scopes=SCOPES), alias_at(stage, known, preset)
    with pytest.raises(openai.APIError) as raised:
        asyncio.run(loops().run(caller, called, alias, "streamed"))
    assert raised.value.code == "upstream_error"
    assert caller.only_call.state == "review"


def test_a_refusal_of_the_gateway_is_the_sdks_error(stage: Stage, called: str, streaming: Streaming) -> None:
    caller, alias = stage.caller(scopes=SCOPES, balance=0), alias_at(stage, called)
    with pytest.raises(openai.APIStatusError) as raised:
        asyncio.run(loops().run(caller, called, alias, streaming))
    assert (raised.value.status_code, raised.value.code) == (402, "insufficient_funds")
