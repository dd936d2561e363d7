"""The components of a charge explain it exactly."""

from dataclasses import replace
from decimal import ROUND_CEILING, Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from billing.rules.charge_components import ADJUSTMENT, CAP, Component, Outcome, components_of
from billing.rules.charge_parts import COMPONENTS as WORDS
from billing.rules.charge_parts import Part, parts
from billing.rules.cost import cost_microusd, usage_of
from billing.rules.price_notation import PriceNotation
from billing.rules.prices import COMPONENTS, TOKEN_COMPONENTS, PriceList
from billing.rules.quantities import Quantities
from gateway.core.contract.amounts import microusd_of_pico

ANY_SPEED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
COUNT = st.none() | st.integers(0, 10**6)
PRICE = st.decimals(0, 1000, places=6, allow_nan=False).map(str)
KINDS = st.dictionaries(st.sampled_from(["1024x1024/high", "512x512/low", "512x512/high"]), PRICE, min_size=1)
TOKENS = st.dictionaries(st.sampled_from(TOKEN_COMPONENTS), PRICE, min_size=1)
THRESHOLDS = st.lists(st.integers(1, 10**6), min_size=1, max_size=3, unique=True).map(sorted)


@st.composite
def bands(draw: Any) -> list[dict[str, Any]]:
    return [{"above_input_tokens": above, **draw(TOKENS)} for above in draw(THRESHOLDS)]


@st.composite
def price_lists(draw: Any) -> dict[str, Any]:
    made = draw(st.dictionaries(st.sampled_from(COMPONENTS), PRICE))
    if draw(st.booleans()):
        made["image"] = draw(KINDS)
    if draw(st.booleans()):
        made["bands"] = draw(bands())
    if draw(st.booleans()):
        tier = draw(TOKENS)
        made["service_tiers"] = {"flex": {**tier, "bands": draw(bands())} if draw(st.booleans()) else tier}
    return made


@st.composite
def usages(draw: Any) -> Quantities:
    plain, cached, written, audio, text, spoken = (draw(COUNT) for _ in range(6))
    return Quantities(
        input_tokens=None if plain is None else plain + (cached or 0) + (written or 0) + (audio or 0),
        cached_input_tokens=cached if plain is not None else None,
        cache_write_tokens=written if plain is not None else None,
        cache_write_1h_tokens=draw(st.integers(0, written)) if plain is not None and written else None,
        input_audio_tokens=audio if plain is not None else None,
        output_tokens=None if text is None else text + (spoken or 0),
        output_audio_tokens=spoken if text is not None else None,
        images=draw(st.none() | st.integers(0, 4)),
        input_characters=draw(COUNT),
        seconds=draw(COUNT),
        input_bytes=draw(COUNT),
        items=draw(COUNT),
        service_tier=draw(st.sampled_from([None, "flex", "priority"])),
    )


def rounded_sum(components: list[Component]) -> int:
    amounts = [Decimal(microusd_of_pico(component.amount)) for component in components]
    return int(sum(amounts, Decimal(0)).to_integral_value(ROUND_CEILING))


def check(components: list[Component], outcome: Outcome) -> None:
    assert rounded_sum(components) == outcome.charge_microusd
    for component in components:
        if component.unit_price is not None:
            assert component.amount == (component.quantity or 0) * component.unit_price > 0
        if component.name in (CAP, ADJUSTMENT):
            assert (component.quantity, component.unit_price) == (None, None)
            assert component is components[-1]
        if component.name == CAP:
            assert component.amount < 0
            assert outcome.charge_microusd == outcome.hold_microusd


def outcome_of(cost: int, hold: int, *, basis: str = "upstream") -> Outcome:
    """What `billing_settle` books."""
    charge = min(cost, hold)
    return Outcome(charge, cost if basis == "upstream" else charge, hold, is_decided=False)


@ANY_SPEED
@given(price_lists(), usages(), st.integers(0, 10**9), st.sampled_from(["upstream", "delivered"]), st.data())
def test_they_explain_every_charge(components: Any, used: Quantities, hold: int, basis: str, data: Any) -> None:
    prices = PriceList.parse(components)
    kind = data.draw(st.sampled_from(sorted(prices.images))) if prices.images else None
    priced = replace(used, image_kind=kind)
    cost = cost_microusd(priced, prices)
    record = usage_of(priced, prices)
    stored = replace(used, service_tier=used.service_tier if "service_tier" in record else None)
    for held in (hold, cost, cost + hold):
        outcome = outcome_of(cost, held, basis=basis)
        found = components_of(stored, prices, outcome)
        check(found, outcome)
        assert {component.name for component in found} <= {*COMPONENTS, CAP}
        if cost <= held:
            assert CAP not in {component.name for component in found}


@ANY_SPEED
@given(price_lists(), usages(), st.integers(0, 10**12), st.integers(0, 10**12), st.integers(0, 10**12), st.booleans())
def test_they_add_up_whatever_was_charged(
    components: Any, used: Quantities, charge: int, overrun: int, more: int, is_decided: bool
) -> None:
    hold = charge if overrun else charge + more
    outcome = Outcome(charge, charge + overrun, hold, is_decided)
    check(components_of(used, PriceList.parse(components), outcome), outcome)


def test_a_capped_charge_ends_with_what_was_not_charged() -> None:
    prices = PriceList.parse({"input_token": "2.50", "output_token": "10"})
    used = Quantities(input_tokens=493, output_tokens=1)
    assert components_of(used, prices, Outcome(1000, 1243, 1000, is_decided=False)) == [
        Component("input_token", 493, 2_500_000, 1_232_500_000),
        Component("output_token", 1, 10_000_000, 10_000_000),
        Component("cap", None, None, -242_500_000),
    ]


def test_a_decided_charge_is_an_adjustment() -> None:
    prices = PriceList.parse({"input_token": "2", "request": "100"})
    for used in (Quantities(), Quantities(input_tokens=7)):
        outcome = Outcome(250, 250, 1000, is_decided=True)
        assert components_of(used, prices, outcome) == [Component("adjustment", None, None, 250_000_000)]
    assert components_of(Quantities(), prices, Outcome(0, 0, 1000, is_decided=True)) == []


@pytest.mark.parametrize(
    ("kinds", "charge", "expected"),
    [
        ({"a/b": "400", "c/d": "100"}, 200, Component("image", 2, 100 * 10**6, 200 * 10**6)),
        ({"a/b": "100", "c/d": "100"}, 200, Component("image", 2, 100 * 10**6, 200 * 10**6)),
        ({"a/b": "0.3", "c/d": "0.4"}, 1, Component("image", 2, None, 10**6)),  # both come to 1, rounded up
    ],
)
def test_an_image_has_the_one_price_that_explains_the_charge(kinds: Any, charge: int, expected: Component) -> None:
    found = components_of(Quantities(images=2), PriceList.parse({"image": kinds}), Outcome(charge, charge, 800, False))
    assert found == [expected]


def test_a_charge_without_images_or_their_price_is_not_explained_by_them() -> None:
    outcome, adjustment = Outcome(200, 200, 800, False), Component("adjustment", None, None, 200 * 10**6)
    assert components_of(Quantities(), PriceList.parse({"image": {"a/b": "40"}}), outcome) == [adjustment]
    assert components_of(Quantities(images=2), PriceList.parse({"request": "0"}), outcome) == [adjustment]


def test_a_price_is_written_as_in_the_list() -> None:
    notation = PriceNotation(
        {
            "input_token": "2.50",
            "output_token": "10",
            "image": {"a/b": "40.0"},
            "bands": [{"above_input_tokens": 5, "input_token": "5.000"}],
            "service_tiers": {
                "flex": {"output_token": "7.5", "bands": [{"above_input_tokens": 5, "output_token": "8.10"}]}
            },
        }
    )
    written = [
        ("input_token", 2.5),
        ("cached_input_token", 2.5),
        ("output_token", 10),
        ("image", 40),
        ("input_token", 5),
    ]
    assert [notation.of(name, int(price * 10**6)) for name, price in written] == ["2.50", "2.50", "10", "40.0", "5.000"]
    assert [notation.of("output_token", price) for price in (7_500_000, 8_100_000, 1_234_560, 0)] == [
        *("7.5", "8.10", "1.23456", "0")
    ]


def test_amounts_have_six_decimals() -> None:
    assert [microusd_of_pico(pico) for pico in (1_234_500_000, 1, -1, -2_500_000, 0)] == [
        *("1234.500000", "0.000001", "-0.000001", "-2.500000", "0.000000")
    ]


def test_every_component_has_words() -> None:
    assert set(WORDS) == {*COMPONENTS, CAP, ADJUSTMENT}


def test_a_live_session_is_itemized_by_text_cache_and_audio() -> None:
    prices = PriceList.parse({"input_token": "4", "output_token": "16", "input_audio_token": "32", "request": "100"})
    used = Quantities(input_tokens=1500, cached_input_tokens=200, input_audio_tokens=1000, output_tokens=50)
    assert parts(components_of(used, prices, Outcome(34_800, 34_900, 34_800, is_decided=False))) == [
        Part("Input tokens", 300, "$4.00", "a million", "$0.0012"),
        Part("Input tokens from the cache", 200, "$4.00", "a million", "$0.0008"),
        Part("Output tokens", 50, "$16.00", "a million", "$0.0008"),
        Part("Input tokens of sound", 1000, "$32.00", "a million", "$0.0320"),
        Part("Request", 1, "$0.0001", "each", "$0.0001"),
        Part("Beyond the hold", None, "", "", "-$0.0001"),
    ]
