"""Prices are read exactly, and the one function of cost is exact, monotone and rounded once."""

from fractions import Fraction
from math import ceil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.rules.cost import cost_microusd
from billing.rules.prices import COMPONENTS, PriceError, PriceList
from billing.rules.quantities import Quantities
from billing.rules.worst_case import WorstCase
from gateway.core.contract.aliases import Route

FAST = {"input_token": "0.15", "cached_input_token": "0.075", "output_token": "0.60"}


@pytest.mark.parametrize(
    ("text", "pico"),
    [
        ("0", 0),
        ("0.15", 150_000),
        ("0.042", 42_000),
        ("0.000001", 1),
        ("1", 1_000_000),
        ("20.5", 20_500_000),
        ("1000000000", 10**15),
    ],
)
def test_reads_decimal_strings_exactly(text: str, pico: int) -> None:
    assert PriceList.parse({"input_token": text}).price("input_token") == pico


@pytest.mark.parametrize(
    "value",
    [
        0.15, 1, True, None, "", " 1", "1 ", "-1", "+1", "1e3", ".5", "1.", "01", "0.0000001", "1000000000.000001",
        "10000000000", "1,5", "NaN", "Infinity", "१", b"1", ["1"], {"1024x1024/high": "1"},
    ],
)  # fmt: skip
def test_refuses_what_is_no_exact_price(value: Any) -> None:
    with pytest.raises(PriceError, match="input_token"):
        PriceList.parse({"input_token": value})


@pytest.mark.parametrize("image", [{}, {"": "1"}, {"1024x1024": "1"}, {"a/b/c": "1"}, {1: "1"}, {"a/b": 1.5}])
def test_refuses_what_prices_no_image(image: Any) -> None:
    with pytest.raises(PriceError, match="image"):
        PriceList.parse({"image": image})


def test_refuses_unknown_components() -> None:
    with pytest.raises(PriceError, match="per_token is not a price component"):
        PriceList.parse({"per_token": "1"})


def test_rounds_up_once_over_all_components() -> None:
    prices = PriceList.parse({"input_token": "0.4", "output_token": "0.4"})
    assert cost_microusd(Quantities(input_tokens=1, output_tokens=1), prices) == 1
    assert cost_microusd(Quantities(input_tokens=2, output_tokens=1), prices) == 2
    assert cost_microusd(Quantities(), prices) == 0


def test_charges_cached_and_audio_tokens_at_their_own_prices() -> None:
    prices = PriceList.parse({**FAST, "input_audio_token": "10", "output_audio_token": "20"})
    used = Quantities(
        input_tokens=100, cached_input_tokens=40, input_audio_tokens=10, output_tokens=50, output_audio_tokens=5
    )
    assert cost_microusd(used, prices) == ceil(50 * 0.15 + 40 * 0.075 + 10 * 10 + 45 * 0.60 + 5 * 20)


def test_charges_cached_and_audio_tokens_as_plain_ones_where_they_have_no_price() -> None:
    prices = PriceList.parse({"input_token": "1", "output_token": "2"})
    used = Quantities(
        input_tokens=10, cached_input_tokens=4, input_audio_tokens=3, output_tokens=5, output_audio_tokens=5
    )
    assert cost_microusd(used, prices) == 20


def test_charges_begun_kilobytes() -> None:
    prices = PriceList.parse({"input_kilobyte": "3"})
    assert [cost_microusd(Quantities(input_bytes=size), prices) for size in (0, 1, 1000, 1001)] == [0, 3, 3, 6]


def test_charges_images_by_size_and_quality() -> None:
    prices = PriceList.parse({"image": {"1024x1024/high": "40000", "1024x1024/low": "10000"}, "request": "5"})
    assert cost_microusd(Quantities(images=2, image_kind="1024x1024/high"), prices) == 80_005
    with pytest.raises(PriceError, match="512x512/high"):
        cost_microusd(Quantities(images=1, image_kind="512x512/high"), prices)
    with pytest.raises(PriceError):
        cost_microusd(Quantities(images=1), prices)
    assert cost_microusd(Quantities(images=3), PriceList.parse({"image": "7"})) == 21


def test_charges_characters_seconds_items_and_requests() -> None:
    prices = PriceList.parse({"input_character": "0.5", "audio_second": "100", "input_item": "7", "request": "1"})
    assert cost_microusd(Quantities(input_characters=3, seconds=2, items=4), prices) == ceil(1.5 + 200 + 28 + 1)


@pytest.mark.parametrize(
    ("components", "route", "serves"),
    [
        (FAST, Route.CHAT_COMPLETIONS, True),
        ({"input_token": "1"}, Route.CHAT_COMPLETIONS, False),
        ({"output_token": "1"}, Route.RESPONSES, False),
        ({"request": "1"}, Route.RESPONSES, True),
        ({"input_token": "1"}, Route.EMBEDDINGS, True),
        ({"input_kilobyte": "1"}, Route.EMBEDDINGS, True),
        ({"input_token": "1"}, Route.RERANK, False),
        ({"input_kilobyte": "1"}, Route.RERANK, True),
        ({"image": {"a/b": "1"}}, Route.IMAGES, True),
        ({}, Route.JUDGEMENT, False),
        ({"input_token": "0"}, Route.JUDGEMENT, True),
    ],
)
def test_knows_which_routes_the_prices_are_complete_for(components: dict[str, Any], route: Route, serves: bool) -> None:
    assert PriceList.parse(components).serves(route) is serves


def test_knows_whether_token_counts_are_needed() -> None:
    assert PriceList.parse(FAST).needs_token_usage
    assert not PriceList.parse({"request": "5", "input_token": "0"}).needs_token_usage


def test_bounds_each_token_at_the_highest_price_that_it_may_have() -> None:
    prices = PriceList.parse(
        {"input_token": "1", "cached_input_token": "3", "input_audio_token": "9", "output_token": "2"}
    )
    assert WorstCase.of(prices).cost_microusd(Quantities(input_tokens=10)) == 30
    assert WorstCase.of(prices, audio_input=True).cost_microusd(Quantities(input_tokens=10)) == 90


component_maps = st.dictionaries(
    st.sampled_from([name for name in COMPONENTS if name != "image"]),
    st.decimals(0, 1000, places=6).map(lambda price: f"{price:f}"),
)
counts = st.integers(0, 10**9)


@given(component_maps, counts, counts, st.floats(0, 1), st.floats(0, 1), counts, counts)
def test_cost_is_exact_and_never_beyond_its_bound(
    components: dict[str, str], tokens_in: int, tokens_out: int, cached: float, audio: float, size: int, more: int
) -> None:
    prices = PriceList.parse(components)
    cached_tokens = int(tokens_in * cached)
    audio_tokens = int((tokens_in - cached_tokens) * audio)
    used = Quantities(
        input_tokens=tokens_in,
        cached_input_tokens=cached_tokens,
        input_audio_tokens=audio_tokens,
        output_tokens=tokens_out,
        input_bytes=size,
    )
    cost = cost_microusd(used, prices)
    plain = Fraction(components.get("input_token", "0"))
    exact = (
        (tokens_in - cached_tokens - audio_tokens) * plain
        + cached_tokens * Fraction(components.get("cached_input_token", plain))
        + audio_tokens * Fraction(components.get("input_audio_token", plain))
        + tokens_out * Fraction(components.get("output_token", "0"))
        + ceil(Fraction(size, 1000)) * Fraction(components.get("input_kilobyte", "0"))
        + Fraction(components.get("request", "0"))
    )
    assert cost == ceil(exact)
    bound = Quantities(
        input_tokens=tokens_in + min(more, 10**9), output_tokens=tokens_out + min(more, 10**9), input_bytes=size + more
    )
    assert cost <= WorstCase.of(prices, audio_input=True).cost_microusd(bound)
