"""Prices by the length of the input, by service tier and by kind of cache: an independent sum by fractions agrees with each
charge, and the hold covers every charge within its bound."""

from fractions import Fraction
from math import ceil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.rules.cost import cost_microusd, usage_of
from billing.rules.prices import PriceError, PriceList, show
from billing.rules.quantities import MalformedUsage, Quantities
from billing.rules.worst_case import WorstCase

TOKENS = (
    *("input_token", "cached_input_token", "cache_write_token", "cache_write_1h_token"),
    *("output_token", "input_audio_token", "output_audio_token"),
)
LONG: dict[str, Any] = {
    "input_token": "2.50",
    "cached_input_token": "0.25",
    "cache_write_token": "3.125",
    "cache_write_1h_token": "5",
    "output_token": "15",
    "bands": [{"above_input_tokens": 200000, "input_token": "5", "cached_input_token": "0.5", "output_token": "22.5"}],
    "service_tiers": {
        "flex": {"input_token": "1.25", "output_token": "7.5"},
        "priority": {
            "input_token": "5",
            "output_token": "30",
            "bands": [{"above_input_tokens": 200000, "input_token": "10"}],
        },
    },
}

PRICE = st.decimals(0, 50, places=6).map("{:f}".format)
OWN = dict.fromkeys(TOKENS, PRICE)
priced = st.dictionaries(st.sampled_from(TOKENS), PRICE, min_size=1)
thresholds = st.lists(st.integers(1, 2000), min_size=1, max_size=4, unique=True).map(sorted)
bands = thresholds.flatmap(
    lambda edges: st.tuples(
        *(st.fixed_dictionaries({"above_input_tokens": st.just(edge)}, optional=OWN) for edge in edges)
    )
).map(lambda found: [band if len(band) > 1 else {**band, "input_token": "7"} for band in found])
tiers = st.dictionaries(
    st.sampled_from(["flex", "priority"]),
    st.tuples(priced, st.none() | bands).map(lambda pair: _with(*pair)),
    min_size=1,
)
price_lists = st.tuples(priced, st.none() | bands, st.none() | tiers).map(lambda all_: _with(*all_))


def _with(own: dict[str, Any], of_bands: Any, of_tiers: Any = None) -> dict[str, Any]:
    variants = {"bands": of_bands, "service_tiers": of_tiers}
    return {**own, **{name: value for name, value in variants.items() if value}}


@st.composite
def usages(draw: Any, most: Quantities | None = None) -> Quantities:
    whole = draw(st.integers(0, most.input_tokens if most else 3000))
    cached = draw(st.integers(0, whole))
    written = draw(st.integers(0, whole - cached))
    return Quantities(
        input_tokens=whole,
        cached_input_tokens=cached,
        cache_write_tokens=written,
        cache_write_1h_tokens=draw(st.integers(0, written)),
        input_audio_tokens=draw(st.integers(0, whole - cached - written)),
        output_tokens=draw(st.integers(0, (most.output_tokens or 0) if most else 3000)),
        service_tier=draw(st.sampled_from([None, "flex", "priority"])),
    )


def exact_cost(used: Quantities, components: dict[str, Any]) -> int:
    """Sum the cost by fractions, from the operator's notation."""
    tier = components.get("service_tiers", {}).get(used.service_tier)
    surrounding = {**components, **(tier or {})}
    own_bands = (components if tier is None else tier).get("bands", [])
    reached = [band for band in own_bands if (used.input_tokens or 0) > band["above_input_tokens"]]
    prices = {**surrounding, **(reached[-1] if reached else {})}

    def of(*names: str) -> Fraction:
        return Fraction(next((prices[name] for name in names if name in prices), "0"))

    cached, written = used.cached_input_tokens or 0, used.cache_write_tokens or 0
    hour, audio = used.cache_write_1h_tokens or 0, used.input_audio_tokens or 0
    total = (
        ((used.input_tokens or 0) - cached - written - audio) * of("input_token")
        + cached * of("cached_input_token", "input_token")
        + (written - hour) * of("cache_write_token", "input_token")
        + hour * of("cache_write_1h_token", "cache_write_token", "input_token")
        + audio * of("input_audio_token", "input_token")
        + (used.output_tokens or 0) * of("output_token")
    )
    return ceil(total)


@given(price_lists, usages())
def test_a_charge_is_the_exact_sum_of_its_tier_and_band(components: dict[str, Any], used: Quantities) -> None:
    assert cost_microusd(used, PriceList.parse(components)) == exact_cost(used, components)


@given(price_lists, st.data(), st.integers(0, 3000), st.integers(0, 3000))
def test_a_hold_covers_every_charge_within_its_bound(
    components: dict[str, Any], data: Any, input_most: int, output_most: int
) -> None:
    prices, bound = PriceList.parse(components), Quantities(input_tokens=input_most, output_tokens=output_most)
    used = data.draw(usages(bound))
    worst = WorstCase.of(
        prices,
        audio_input=bool(used.input_audio_tokens),
        one_hour_cache=bool(used.cache_write_1h_tokens),
        service_tier=used.service_tier,
    )
    assert cost_microusd(used, prices) <= worst.cost_microusd(bound)


@given(price_lists, st.integers(0, 3000), st.integers(0, 10**6), st.sampled_from([None, "flex", "priority"]))
def test_the_output_that_a_maximum_covers_is_exact(
    components: dict[str, Any], input_tokens: int, most: int, tier: str | None
) -> None:
    worst = WorstCase.of(PriceList.parse(components), service_tier=tier)
    prompt = Quantities(input_tokens=input_tokens)
    covered = worst.output_tokens_within(prompt, most)
    if covered is None:
        assert worst.cost_microusd(prompt) == worst.cost_microusd(
            Quantities(input_tokens=input_tokens, output_tokens=10**6)
        )
    elif covered < 0:
        assert worst.cost_microusd(prompt) > most
    else:
        costs = [
            worst.cost_microusd(Quantities(input_tokens=input_tokens, output_tokens=tokens))
            for tokens in (min(covered, 10**9), min(covered + 1, 10**9))
        ]
        assert costs[0] <= most
        assert costs[1] > most or covered >= 10**9


@pytest.mark.parametrize(
    ("input_tokens", "tier", "cost", "band"),
    [
        (200_000, None, 500_000, None),
        (200_001, None, 1_000_005, 200_000),
        (200_000, "flex", 250_000, None),
        (200_001, "flex", 250_002, None),  # a tier has only the bands that it names
        (200_000, "priority", 1_000_000, None),
        (200_001, "priority", 2_000_010, 200_000),
        (200_001, "batch", 1_000_005, 200_000),  # not priced: the default
    ],
)
def test_the_threshold_itself_is_below_its_band(
    input_tokens: int, tier: str | None, cost: int, band: int | None
) -> None:
    prices, used = PriceList.parse(LONG), Quantities(input_tokens=input_tokens, service_tier=tier)
    assert cost_microusd(used, prices) == cost
    named = {"service_tier": tier} if tier in LONG["service_tiers"] else {}
    above = {} if band is None else {"price_band": band}
    assert usage_of(used, prices) == {"input_tokens": input_tokens, **named, **above}


def test_the_whole_input_picks_the_band_cached_and_written_tokens_included() -> None:
    used = Quantities(
        input_tokens=200_001, cached_input_tokens=100_000, cache_write_tokens=100_000, cache_write_1h_tokens=40_000
    )
    # What the band does not name has the price of the base: 3.125 and 5 for the tokens that are written.
    assert cost_microusd(used, PriceList.parse(LONG)) == 1 * 5 + 100_000 // 2 + 60_000 * 3.125 + 40_000 * 5


def test_what_is_left_out_has_the_price_of_plain_input_within_its_band() -> None:
    prices = PriceList.parse({"input_token": "1", "bands": [{"above_input_tokens": 9, "input_token": "3"}]})
    for kind in ("cached_input_tokens", "cache_write_tokens"):
        assert cost_microusd(Quantities(input_tokens=10, **{kind: 10}), prices) == 30  # type: ignore[arg-type]
    prices = PriceList.parse({"input_token": "1", "cache_write_token": "2"})
    hour = Quantities(input_tokens=10, cache_write_tokens=10, cache_write_1h_tokens=10)
    assert cost_microusd(hour, prices) == 20


def test_a_tier_may_differ_in_its_bands_alone() -> None:
    bands = [{"above_input_tokens": 9, "input_token": "3"}]
    prices = PriceList.parse({"input_token": "1", "service_tiers": {"flex": {"bands": bands}}})
    used = [Quantities(input_tokens=tokens, service_tier=tier) for tier in ("flex", None) for tokens in (9, 10)]
    assert [cost_microusd(each, prices) for each in used] == [9, 30, 9, 10]
    assert WorstCase.of(prices, service_tier="flex").cost_microusd(Quantities(input_tokens=10)) == 30


@pytest.mark.parametrize(
    ("input_tokens", "kinds", "hold"),
    [
        (200_000, {}, 625_000),  # each token may be written to the cache, at 3.125
        (200_001, {}, 1_000_005),
        (200_000, {"one_hour_cache": True}, 1_000_000),
        (200_000, {"service_tier": "flex"}, 625_000),  # an upstream may answer in the default tier
        (200_000, {"service_tier": "priority"}, 1_000_000),
        (200_001, {"service_tier": "priority"}, 2_000_010),
    ],
)
def test_a_hold_is_the_most_that_the_request_can_come_to(input_tokens: int, kinds: dict[str, Any], hold: int) -> None:
    worst = WorstCase.of(PriceList.parse(LONG), **kinds)
    assert worst.cost_microusd(Quantities(input_tokens=input_tokens)) == hold


def test_a_cheaper_band_does_not_lower_the_hold_below_what_its_threshold_costs() -> None:
    prices = PriceList.parse({"input_token": "5", "bands": [{"above_input_tokens": 100, "input_token": "1"}]})
    worst = WorstCase.of(prices)
    assert [worst.cost_microusd(Quantities(input_tokens=size)) for size in (100, 101, 500, 501)] == [500, 500, 500, 501]


@pytest.mark.parametrize(
    ("variant", "named"),
    [
        ({"bands": []}, "bands"),
        ({"bands": {}}, "bands"),
        ({"bands": ["5"]}, r"bands\[0\]"),
        ({"bands": [{"input_token": "1"}]}, r"bands\[0\].above_input_tokens"),
        ({"bands": [{"above_input_tokens": 0, "input_token": "1"}]}, r"bands\[0\].above_input_tokens"),
        ({"bands": [{"above_input_tokens": True, "input_token": "1"}]}, r"bands\[0\].above_input_tokens"),
        ({"bands": [{"above_input_tokens": 1.0, "input_token": "1"}]}, r"bands\[0\].above_input_tokens"),
        ({"bands": [{"above_input_tokens": 5}]}, r"bands\[0\] has no prices"),
        ({"bands": [{"above_input_tokens": 5, "image": "1"}]}, r"bands\[0\].image"),
        ({"bands": [{"above_input_tokens": 5, "input_token": 1}]}, r"bands\[0\].input_token"),
        ({"bands": [{"above_input_tokens": 5, "input_token": "1"}] * 2}, r"bands\[1\].above_input_tokens"),
        ({"bands": [{"above_input_tokens": at, "input_token": "1"} for at in range(1, 18)]}, "bands"),
        ({"service_tiers": {}}, "service_tiers"),
        ({"service_tiers": ["flex"]}, "service_tiers"),
        ({"service_tiers": {"flex": None}}, "service_tiers.flex"),
        ({"service_tiers": {"flex": {}}}, "service_tiers.flex has no prices"),
        ({"service_tiers": {"flex": {"request": "1"}}}, "service_tiers.flex.request"),
        ({"service_tiers": {"flex": {"input_token": "1", "bands": []}}}, "service_tiers.flex.bands"),
        ({"service_tiers": {"flex": {"bands": []}}}, "service_tiers.flex.bands"),
        ({"service_tiers": {"Flex": {"input_token": "1"}}}, "service tier"),
        *[({"service_tiers": {name: {"input_token": "1"}}}, name) for name in ("default", "auto", "standard")],
    ],
)
def test_refuses_what_is_no_band_or_tier(variant: dict[str, Any], named: str) -> None:
    with pytest.raises(PriceError, match=named):
        PriceList.parse({"input_token": "1", **variant})


@pytest.mark.parametrize(
    "quantities",
    [
        {"input_tokens": 10, "cached_input_tokens": 6, "cache_write_tokens": 5},
        {"input_tokens": 10, "cache_write_tokens": 6, "input_audio_tokens": 5},
        {"input_tokens": 10, "cache_write_tokens": 4, "cache_write_1h_tokens": 5},
        {"input_tokens": 10, "cache_write_1h_tokens": 5},
        {"input_tokens": 10, "cache_write_tokens": -1},
    ],
)
def test_refuses_cache_writes_that_cannot_be(quantities: dict[str, int]) -> None:
    with pytest.raises(MalformedUsage):
        Quantities(**quantities)  # type: ignore[arg-type]


def test_a_price_with_tokens_only_in_a_band_or_tier_needs_token_counts() -> None:
    free = {"request": "1", "input_token": "0"}
    assert PriceList.parse({**free, "bands": [{"above_input_tokens": 5, "input_token": "1"}]}).needs_token_usage
    assert PriceList.parse({**free, "service_tiers": {"flex": {"output_token": "1"}}}).needs_token_usage


def test_shows_bands_and_tiers_in_one_line() -> None:
    shown = show({"input_token": "1", **{name: LONG[name] for name in ("bands", "service_tiers")}})
    assert shown == (
        "input_token 1, bands (above 200000 input tokens input_token 5, cached_input_token 0.5, output_token 22.5), "
        "service_tiers (flex (input_token 1.25, output_token 7.5), "
        "priority (input_token 5, output_token 30, bands (above 200000 input tokens input_token 10)))"
    )
