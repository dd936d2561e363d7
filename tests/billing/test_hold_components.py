"""The arithmetic of a hold: its parts come to the amount that was held, for every kind of request."""

import pytest

from billing.rules.hold_components import bound_of, components_of
from billing.rules.prices import PriceList
from billing.rules.quantities import Quantities
from billing.rules.worst_case import WorstCase

TEXT = PriceList.parse({"input_token": "0.15", "cache_write_1h_token": "0.30", "output_token": "0.60"})
BANDS = PriceList.parse(
    {
        "input_token": "1",
        "output_token": "2",
        "bands": [{"above_input_tokens": 100, "input_token": "3"}],
        "service_tiers": {"priority": {"input_token": "5"}},
    }
)
IMAGES = PriceList.parse({"image": {"1024x1024/high": "40000", "1024x1024/low": "10000"}, "input_token": "1"})


def sums(bound: Quantities, prices: PriceList, hold: int) -> list[tuple[str, int | None, int | None]]:
    found = components_of(bound, prices, hold)
    assert -(-sum(part.amount for part in found) // 10**6) == (hold if found else 0)
    return [(part.name, part.quantity, part.unit_price) for part in found]


def test_a_text_call_is_its_input_and_its_output() -> None:
    bound = Quantities(input_tokens=7, output_tokens=2)
    assert sums(bound, TEXT, 3) == [("input_token", 7, 150_000), ("output_token", 2, 600_000)]


def test_tokens_that_may_be_cached_for_an_hour_have_that_price() -> None:
    bound = Quantities(input_tokens=10, output_tokens=0)
    assert WorstCase.of(TEXT, one_hour_cache=True).cost_microusd(bound) == 3
    assert sums(bound, TEXT, 3) == [("input_token", 10, 300_000)]


@pytest.mark.parametrize(("tokens", "tier", "price"), [(50, None, 1), (200, None, 3), (50, "priority", 5)])
def test_the_band_and_the_tier_that_cost_most_are_found(tokens: int, tier: str | None, price: int) -> None:
    bound = Quantities(input_tokens=tokens)
    hold = WorstCase.of(BANDS, service_tier=tier).cost_microusd(bound)
    assert sums(bound, BANDS, hold) == [("input_token", tokens, price * 10**6)]


def test_images_are_held_at_the_kind_that_explains_the_amount() -> None:
    bound = Quantities(images=2, input_tokens=5)
    assert sums(bound, IMAGES, 20_005) == [("input_token", 5, 10**6), ("image", 2, 10_000 * 10**6)]


def test_an_amount_that_nothing_explains_has_no_parts() -> None:
    assert components_of(Quantities(input_tokens=7), TEXT, 999) == []


def test_what_was_kept_is_read_with_care() -> None:
    assert bound_of({"price_version": 7, "max_cost_microusd": 9}) is None
    assert bound_of({"input_tokens": -1}) is None
    assert bound_of({"input_tokens": "7"}) is None
    assert bound_of({"input_tokens": 7, "unknown": 1}) == Quantities(input_tokens=7)
