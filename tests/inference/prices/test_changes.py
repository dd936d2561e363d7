"""What a catalogue proposes beside the price in force, place by place."""

from fractions import Fraction
from typing import Any

import pytest

from billing.rules.prices import PICO_PER_MICRO, TOKEN_COMPONENTS, PriceList
from inference.rules.price_catalogues.entries import Entry
from inference.rules.price_changes import changes, is_beyond_bounds, propose
from inference.rules.price_places import Place, charged, components_of, prices_of, texts_of

WHOLE: dict[str, Any] = {
    "input_token": "2.50",
    "cached_input_token": "0.25",
    "output_token": "15",
    "image": {"1024x1024/high": "40000", "1024x1024/low": "10000"},
    "bands": [
        {"above_input_tokens": 200000, "input_token": "5", "cached_input_token": "0.5", "output_token": "22.5"},
        {"above_input_tokens": 272000, "input_token": "6"},
    ],
    "service_tiers": {
        "flex": {"input_token": "1.25", "output_token": "7.5"},
        "priority": {
            "input_token": "5",
            "output_token": "30",
            "bands": [{"above_input_tokens": 200000, "input_token": "10"}],
        },
    },
}


def entry(components: dict[str, Any], *notes: str) -> Entry:
    return Entry("m", "p", "m", prices_of(components), notes)


def proposed(components: dict[str, Any], now: dict[str, Any], markup: str = "0") -> dict[str, Any]:
    return propose([entry(components)], now, Fraction(markup)).components


def shown(now: dict[str, Any], then: dict[str, Any]) -> dict[str, tuple[str | None, str, str | None, bool]]:
    return {
        str(each.place): (each.now, each.charged_now, each.proposed, each.is_beyond_bounds)
        for each in changes(now, then)
    }


def test_a_price_list_is_the_sum_of_its_places() -> None:
    assert components_of(texts_of(WHOLE)) == WHOLE


@pytest.mark.parametrize(
    ("place", "price"),
    [
        (Place("output_token"), "15"),
        (Place("cache_write_1h_token"), "2.5"),
        (Place("output_audio_token"), "15"),
        (Place("request"), "0"),
        (Place("cached_input_token", 200_000), "0.5"),
        (Place("cached_input_token", 272_000), "0.25"),
        (Place("input_token", 250_000), "5"),
        (Place("input_token", 100_000), "2.5"),
        (Place("cache_write_token", 200_000), "5"),
        (Place("cached_input_token", 0, "flex"), "0.25"),
        (Place("cache_write_token", 0, "flex"), "1.25"),
        (Place("input_token", 200_000, "flex"), "1.25"),
        (Place("output_token", 200_000, "priority"), "30"),
        (Place("input_token", 300_000, "priority"), "10"),
        (Place("input_token", 200_000, "unsold"), "5"),
    ],
)
def test_what_a_place_without_a_price_costs(place: Place, price: str) -> None:
    assert charged(prices_of(WHOLE), place) == Fraction(price)


@pytest.mark.parametrize("tier", ["", "flex", "priority"])
@pytest.mark.parametrize("above", [0, 100_000, 200_000, 250_000, 272_000, 300_000])
def test_every_place_costs_what_a_call_is_charged(above: int, tier: str) -> None:
    prices = PriceList.parse(WHOLE).of_tier(tier)
    band = prices.band_of(above + 1) if above else None
    for component in TOKEN_COMPONENTS:
        charge = (band.prices if band else prices).price(component)
        assert charged(prices_of(WHOLE), Place(component, above, tier)) * PICO_PER_MICRO == charge, component


def test_what_the_catalogue_does_not_know_stays() -> None:
    now = {"input_token": "1", "request": "7", "image": {"1024x1024/high": "40000"}}
    assert proposed({"input_token": "2", "output_token": "4"}, now) == {
        "input_token": "2",
        "output_token": "4",
        "image": {"1024x1024/high": "40000"},
        "request": "7",
    }


def test_a_single_price_of_images_does_not_replace_those_by_size() -> None:
    now = {"image": {"1024x1024/high": "40000"}}
    found = propose([entry({"image": "52000"})], now, Fraction(0))
    assert found.components == now
    assert found.notes == ("the catalogue has one price for images; those by size and quality stay",)


def test_bands_and_tiers_that_the_catalogue_lacks_stay_and_are_named() -> None:
    found = propose([entry({"input_token": "2.5", "output_token": "15"})], WHOLE, Fraction(0))
    assert found.components == WHOLE
    assert found.notes == tuple(
        f"{scope} is not in the catalogue and stays"
        for scope in ("above 200000", "above 272000", "flex", "priority", "priority, above 200000")
    )


def test_a_zero_for_what_costs_nothing_adds_nothing() -> None:
    assert proposed({"input_token": "2", "output_token": "0"}, {"input_token": "1"}) == {"input_token": "2"}
    assert proposed({"input_token": "0"}, {"input_token": "1"}) == {"input_token": "0"}
    assert proposed({"input_token": "0", "output_token": "0"}, {}) == {"input_token": "0", "output_token": "0"}


def test_the_dearest_of_several_deployments_is_proposed_at_each_place() -> None:
    cheap_input = {
        "input_token": "1",
        "output_token": "8",
        "bands": [{"above_input_tokens": 200000, "input_token": "4"}],
    }
    cheap_output = {"input_token": "2", "cached_input_token": "0.5", "output_token": "6"}
    found = propose([entry(cheap_input), entry(cheap_output)], {}, Fraction(0))
    assert found.components == {
        "input_token": "2",
        "cached_input_token": "1",  # the first one charges its input price
        "output_token": "8",
        "bands": [{"above_input_tokens": 200000, "input_token": "4"}],
    }
    assert found.notes == ("the deployments have different prices; each of these is the highest",)


def test_what_a_band_costs_now_does_not_fall_where_the_catalogue_begins_another() -> None:
    base = {"input_token": "1", "output_token": "4"}
    now = {**base, "bands": [{"above_input_tokens": 128_000, "input_token": "2", "output_token": "8"}]}
    found = proposed({**base, "bands": [{"above_input_tokens": 200_000, "input_token": "2"}]}, now)
    assert charged(prices_of(found), Place("output_token", 200_000)) == 8
    assert changes(now, found)[0].charged_now == changes(now, found)[0].proposed == "2"


def test_the_dearest_band_stays_the_dearest_where_another_deployment_begins_one() -> None:
    base = {"input_token": "1", "output_token": "4"}
    low = entry({**base, "bands": [{"above_input_tokens": 128_000, "input_token": "2", "output_token": "8"}]})
    high = entry({**base, "bands": [{"above_input_tokens": 200_000, "input_token": "3"}]})
    found = prices_of(propose([low, high], {}, Fraction(50)).components)
    assert [charged(found, Place("output_token", above)) for above in (0, 128_000, 200_000)] == [6, 12, 12]
    assert charged(found, Place("input_token", 200_000)) == Fraction("4.5")


def test_a_markup_is_exact_and_rounded_up_once() -> None:
    found = propose([entry({"input_token": "0.15", "output_token": "0.000001"})], {}, Fraction("12.5"))
    assert found.components == {"input_token": "0.16875", "output_token": "0.000002"}
    assert found.rounded == ("output_token",)


def test_a_price_that_is_the_same_is_no_change() -> None:
    now = {"input_token": "2.50", "output_token": "0.60"}
    assert proposed({"input_token": "2.5", "output_token": "0.6"}, now) == now
    assert changes(now, {"input_token": "2.5", "output_token": "0.600"}) == []


def test_changes_are_listed_with_what_is_charged_now() -> None:
    now = {"input_token": "2.5", "output_token": "10"}
    then = {
        **now,
        "output_token": "12",
        "cached_input_token": "0.25",
        "service_tiers": {"flex": {"input_token": "1.25"}},
    }
    assert shown(now, then) == {
        "cached_input_token": (None, "2.5", "0.25", True),
        "output_token": ("10", "10", "12", False),
        "flex: input_token": (None, "2.5", "1.25", False),
    }
    assert changes(now, then)[1].percent == 20


@pytest.mark.parametrize(
    ("now", "then", "is_far"),
    [
        ("1", "3", False),
        ("1", "3.000001", True),
        ("3", "1", False),
        ("3.000001", "1", True),
        ("1", "0", True),
        ("0", "1", True),
        ("0", "0.0", False),
    ],
)
def test_the_bounds_are_a_factor_of_three(now: str, then: str, is_far: bool) -> None:
    assert is_beyond_bounds({"input_token": now}, {"input_token": then}) is is_far


def test_a_first_price_and_a_new_component_are_beyond_the_bounds() -> None:
    assert is_beyond_bounds({}, {"input_token": "1"})
    assert is_beyond_bounds({"input_token": "1"}, {"input_token": "1", "request": "1"})
    assert not is_beyond_bounds({"input_token": "1"}, {"input_token": "1", "cache_write_token": "1.25"})
