"""How much is held, and how much output a maximum buys."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.rules.prices import PriceList
from billing.rules.quantities import Quantities
from billing.rules.worst_case import WorstCase
from gateway.core.contract.errors import InvalidRequest, MaxCostExceeded
from inference.interface.model import PriceVersion, ServedModel
from inference.routes.chat.bound import bound_chat
from inference.routes.chat.request import ChatRequest
from inference.routes.embeddings.bound import bound_embeddings
from inference.routes.embeddings.request import EmbeddingRequest


def version(**components: Any) -> Any:
    prices = PriceList.parse(components)
    return PriceVersion(1, datetime(2026, 1, 1, tzinfo=UTC), prices, WorstCase.of(prices), components)


def demand(tokens: Any, **fields: Any) -> Any:
    terms: dict[str, Any] = {"has_audio": False, "choices": 1, "output_limit": None, **fields}
    return ChatRequest(
        {}, False, tokens, 0, limit_field="max_completion_tokens", streams=False, show_usage=False, **terms
    )


PRICE = version(input_token="0.15", cached_input_token="0.075", output_token="0.60")


def test_the_clients_own_limit_remains() -> None:
    sized = bound_chat(demand(100, output_limit=10), ServedModel("a"), PRICE, 1000)
    assert (sized.hold_microusd, sized.output_tokens, sized.body) == (21, 10, {"service_tier": "default"})


def test_a_limit_that_the_client_left_out_is_the_aliass() -> None:
    sized = bound_chat(demand(100), ServedModel("a", max_output_tokens=50), PRICE, 1000)
    assert (sized.hold_microusd, sized.output_tokens) == (45, 50)
    assert sized.body == {"max_completion_tokens": 50, "service_tier": "default"}


def test_a_limit_that_the_client_left_out_is_no_more_than_its_maximum_buys() -> None:
    sized = bound_chat(demand(100), ServedModel("a", max_output_tokens=50_000), PRICE, 1000)
    assert sized.hold_microusd == 1000
    assert sized.body["max_completion_tokens"] == 1641  # (1000 - 15) / 0.6, and the input's half micro-USD less
    assert PRICE.worst_case.cost_microusd(Quantities(input_tokens=100, output_tokens=1642)) == 1001


def test_every_choice_counts() -> None:
    sized = bound_chat(demand(100, choices=4), ServedModel("a"), PRICE, 1000)
    assert sized.output_tokens == 4 * sized.body["max_completion_tokens"] == 4 * 410


def test_an_input_that_costs_more_than_the_maximum_is_refused_with_what_it_needs() -> None:
    with pytest.raises(MaxCostExceeded) as refused:
        bound_chat(demand(100_000), ServedModel("a", max_output_tokens=50), PRICE, 1000)
    assert refused.value.details == {"requiredMicrousd": 15_001}


def test_a_maximum_that_pays_the_input_and_no_output_is_refused() -> None:
    with pytest.raises(MaxCostExceeded) as refused:
        bound_chat(demand(100), ServedModel("a"), PRICE, 15)
    assert refused.value.details == {"requiredMicrousd": 16}


def test_the_more_expensive_of_plain_and_cached_input_is_held() -> None:
    expensive = version(input_token="1", cached_input_token="3", output_token="0")
    assert bound_chat(demand(10, output_limit=1), ServedModel("a"), expensive, 1000).hold_microusd == 30


def test_audio_is_held_at_its_own_price() -> None:
    loud = version(input_token="1", input_audio_token="40", output_token="0")
    assert bound_chat(demand(10, output_limit=1), ServedModel("a"), loud, 1000).hold_microusd == 10
    assert bound_chat(demand(10, output_limit=1, has_audio=True), ServedModel("a"), loud, 1000).hold_microusd == 400


def test_output_without_a_price_is_bounded_all_the_same() -> None:
    free = version(input_token="1", output_token="0")
    assert bound_chat(demand(10), ServedModel("a"), free, 1000).output_tokens == 500_000
    assert bound_chat(demand(10), ServedModel("a", context_tokens=8_000), free, 1000).output_tokens == 8_000


def test_more_output_than_can_be_counted_is_refused() -> None:
    with pytest.raises(InvalidRequest):
        bound_chat(demand(10, output_limit=20_000_000, choices=128), ServedModel("a"), PRICE, 10**10)


def test_a_request_without_output_holds_its_input() -> None:
    request = EmbeddingRequest({"input": "x"}, False, ["x"], Quantities(input_tokens=1000))
    sized = bound_embeddings(request, ServedModel("a"), PRICE, 150)
    assert (sized.hold_microusd, sized.body) == (150, {"input": "x"})
    with pytest.raises(MaxCostExceeded) as refused:
        bound_embeddings(request, ServedModel("a"), PRICE, 149)
    assert refused.value.details == {"requiredMicrousd": 150}


@given(
    tokens=st.integers(0, 10_000),
    choices=st.integers(1, 8),
    price=st.decimals("0.000001", "50", places=6).map(str),
    max_cost=st.integers(1, 100_000),
    limit=st.none() | st.integers(1, 20_000),
)
def test_the_limit_is_the_largest_that_the_maximum_buys(
    tokens: Any, choices: Any, price: Any, max_cost: Any, limit: Any
) -> None:
    prices, model = version(input_token="0.15", output_token=price), ServedModel("a", max_output_tokens=limit)
    wanted = demand(tokens, choices=choices)

    def cost(output: Any) -> Any:
        return prices.worst_case.cost_microusd(Quantities(input_tokens=tokens, output_tokens=output * choices))

    most = limit or 500_000 // choices
    if cost(1) > max_cost:
        with pytest.raises(MaxCostExceeded) as refused:
            bound_chat(wanted, model, prices, max_cost)
        assert refused.value.details == {"requiredMicrousd": cost(1)}
        return
    sized = bound_chat(wanted, model, prices, max_cost)
    chosen = sized.output_tokens // choices
    assert sized.hold_microusd == cost(chosen) <= max_cost
    assert chosen == most or cost(chosen + 1) > max_cost
