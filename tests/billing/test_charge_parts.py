"""The parts of a charge add up to the charge."""

from decimal import ROUND_CEILING, Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from billing.rules.charge_parts import COMPONENTS as WORDS
from billing.rules.charge_parts import Part, parts
from billing.rules.cost import cost_microusd
from billing.rules.prices import COMPONENTS, PriceList
from billing.rules.quantities import Quantities

ANY_SPEED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
COUNT = st.integers(0, 10**6)
PRICES = st.dictionaries(
    st.sampled_from(COMPONENTS), st.decimals(0, 1000, places=6, allow_nan=False).map(str), max_size=len(COMPONENTS)
)


def test_every_component_has_words() -> None:
    assert set(WORDS) == set(COMPONENTS)


@ANY_SPEED
@given(PRICES, COUNT, COUNT, COUNT, COUNT, COUNT, COUNT)
def test_parts_add_up_to_the_cost(
    components: dict[str, str], text: int, cached: int, audio: int, written: int, spoken: int, others: int
) -> None:
    used = Quantities(
        input_tokens=text + cached + audio,
        cached_input_tokens=cached,
        input_audio_tokens=audio,
        output_tokens=written + spoken,
        output_audio_tokens=spoken,
        images=others,
        input_characters=others,
        seconds=others,
        input_bytes=others,
        items=others,
    )
    prices = PriceList.parse(components)
    found = parts(used, prices)
    dollars = sum((Decimal(part.amount.replace(",", "").removeprefix("$")) for part in found), Decimal(0))
    assert int((dollars * 10**6).to_integral_value(ROUND_CEILING)) == cost_microusd(used, prices)


def test_a_live_session_is_itemized_by_text_cache_and_audio() -> None:
    prices = PriceList.parse({"input_token": "4", "output_token": "16", "input_audio_token": "32", "request": "100"})
    used = Quantities(input_tokens=1500, cached_input_tokens=200, input_audio_tokens=1000, output_tokens=50)
    assert parts(used, prices) == [
        Part("Input tokens", 300, "$4.00", "a million", "$0.0012"),
        Part("Input tokens from the cache", 200, "$4.00", "a million", "$0.0008"),
        Part("Output tokens", 50, "$16.00", "a million", "$0.0008"),
        Part("Input tokens of sound", 1000, "$32.00", "a million", "$0.0320"),
        Part("Request", 1, "$0.0001", "each", "$0.0001"),
    ]


@pytest.mark.parametrize("price", ["0.02", {"1024x1024/high": "0.04", "512x512/low": "0.01"}])
def test_an_image_whose_size_is_not_on_record_has_no_price(price: object) -> None:
    [part] = parts(Quantities(images=2), PriceList.parse({"image": price}))
    expected = (
        Part("Images", 2, "$0.00000002", "each", "$0.00000004") if price == "0.02" else Part("Images", 2, "", "", "")
    )
    assert part == expected
