"""What users of other gateways report as charged wrongly: each case is charged here as its vendor does.

The price of long inputs is that of docs/prices.md, which has the same cases in its table.
"""

from math import ceil
from typing import Any

import pytest

from billing.rules.cost import cost_microusd
from billing.rules.prices import PriceList
from inference.rules.caching import NOTHING, Caching
from inference.rules.token_charge import TokenCharge
from inference.rules.token_usage import read_chat, read_message, read_response

PRICE: dict[str, Any] = {
    "input_token": "2.50",
    "cached_input_token": "0.25",
    "cache_write_token": "3.125",
    "cache_write_1h_token": "5",
    "output_token": "15",
    "bands": [
        {
            "above_input_tokens": 200000,
            "input_token": "5",
            "cached_input_token": "0.5",
            "cache_write_token": "6.25",
            "cache_write_1h_token": "10",
            "output_token": "22.5",
        }
    ],
    "service_tiers": {
        "flex": {"input_token": "1.25", "output_token": "7.5"},
        "priority": {"input_token": "5", "output_token": "30"},
    },
}
PRICES = PriceList.parse(PRICE)
AN_HOUR = Caching(long_param="messages.0.cache_control", is_long=True, is_only_long=True)


def charged(
    usage: Any, read: Any = read_chat, *, asked: str | None = None, reported: Any = None, caching: Caching = NOTHING
) -> int:
    """Return what a usage costs, in micro-USD."""
    charge = TokenCharge.of(PRICES, read, asked, caching)
    return cost_microusd(charge.quantities(usage, reported), PRICES)


def test_reads_and_writes_of_messages_are_not_forgotten() -> None:
    usage = {
        "input_tokens": 12,
        "cache_read_input_tokens": 4000,
        "cache_creation_input_tokens": 1253,
        "output_tokens": 467,
    }
    assert charged(usage, read_message) == ceil(12 * 2.5 + 4000 * 0.25 + 1253 * 3.125 + 467 * 15)


def test_reads_beside_the_details_are_not_charged_as_plain_input() -> None:
    usage = {
        "prompt_tokens": 2459,
        "completion_tokens": 23,
        "prompt_tokens_details": {"audio_tokens": None, "cached_tokens": 0},
        "cache_read_input_tokens": 2455,
        "cache_creation_input_tokens": 0,
    }
    assert charged(usage) == ceil(4 * 2.5 + 2455 * 0.25 + 23 * 15)


def test_reads_are_not_charged_twice_where_the_text_contains_them() -> None:
    usage = {
        "prompt_tokens": 100_960,
        "completion_tokens": 1744,
        "prompt_tokens_details": {"text_tokens": 100_960, "cached_tokens": 97_955},
    }
    assert charged(usage) == ceil(3005 * 2.5 + 97_955 * 0.25 + 1744 * 15)


@pytest.mark.parametrize("name", ["cache_write_tokens", "cache_creation_tokens"])
@pytest.mark.parametrize(
    ("read", "totals"), [(read_chat, ("prompt", "completion")), (read_response, ("input", "output"))]
)
def test_writes_are_found_in_the_details(read: Any, totals: tuple[str, str], name: str) -> None:
    inputs, outputs = (f"{total}_tokens" for total in totals)
    usage = {inputs: 98_805, outputs: 5120, f"{inputs}_details": {"cached_tokens": 66_360, name: 32_435}}
    assert charged(usage, read) == ceil(10 * 2.5 + 66_360 * 0.25 + 32_435 * 3.125 + 5120 * 15)


def test_writes_for_an_hour_are_not_charged_as_those_for_five_minutes() -> None:
    times = {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 1000}
    usage = {"input_tokens": 10, "output_tokens": 5, "cache_creation_input_tokens": 1000, "cache_creation": times}
    assert charged(usage, read_message) == ceil(10 * 2.5 + 1000 * 5 + 5 * 15)


def test_writes_for_an_hour_that_an_aggregator_does_not_tell_apart() -> None:
    usage = {"prompt_tokens": 1010, "completion_tokens": 5, "prompt_tokens_details": {"cache_write_tokens": 1000}}
    assert charged(usage, caching=AN_HOUR) == ceil(10 * 2.5 + 1000 * 5 + 5 * 15)


def test_writes_beyond_those_with_a_time_are_not_free() -> None:
    times = {"ephemeral_5m_input_tokens": 300, "ephemeral_1h_input_tokens": 100}
    usage = {"input_tokens": 10, "output_tokens": 5, "cache_creation_input_tokens": 1000, "cache_creation": times}
    assert charged(usage, read_message) == ceil(10 * 2.5 + 900 * 3.125 + 100 * 5 + 5 * 15)


def test_writes_for_an_hour_of_a_long_input_have_the_price_of_their_band() -> None:
    times = {"ephemeral_1h_input_tokens": 150_000}
    usage = {
        "input_tokens": 50_001,
        "output_tokens": 5,
        "cache_creation_input_tokens": 150_000,
        "cache_creation": times,
    }
    assert charged(usage, read_message) == ceil(50_001 * 5 + 150_000 * 10 + 5 * 22.5)


@pytest.mark.parametrize(
    ("usage", "read"),
    [
        ({"input_tokens": 1, "cache_read_input_tokens": 200_000, "output_tokens": 5}, read_message),
        (
            {"prompt_tokens": 200_001, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 200_000}},
            read_chat,
        ),
    ],
)
def test_what_was_read_counts_towards_the_band(usage: Any, read: Any) -> None:
    assert charged(usage, read) == ceil(1 * 5 + 200_000 * 0.5 + 5 * 22.5)


def test_output_does_not_count_towards_the_band() -> None:
    usage = {"prompt_tokens": 150_000, "completion_tokens": 60_000, "total_tokens": 210_000}
    assert charged(usage) == ceil(150_000 * 2.5 + 60_000 * 15)


def test_exactly_the_threshold_is_below_it_and_all_tokens_have_the_price_of_the_band() -> None:
    assert charged({"prompt_tokens": 200_000, "completion_tokens": 1}) == ceil(200_000 * 2.5 + 15)
    assert charged({"prompt_tokens": 200_001, "completion_tokens": 1}) == ceil(200_001 * 5 + 22.5)


@pytest.mark.parametrize("read", [read_chat, read_response])
@pytest.mark.parametrize(
    ("asked", "reported", "prices"),
    [
        ("flex", "flex", (1.25, 7.5)),
        ("priority", "default", (2.5, 15)),
        (None, "priority", (5, 30)),
        ("priority", None, (5, 30)),
    ],
)
def test_the_tier_that_served_is_charged(read: Any, asked: Any, reported: Any, prices: Any) -> None:
    names = ("prompt_tokens", "completion_tokens") if read is read_chat else ("input_tokens", "output_tokens")
    usage = dict(zip(names, (1100, 500), strict=True))
    assert charged(usage, read, asked=asked, reported=reported) == ceil(1100 * prices[0] + 500 * prices[1])


def test_reasoning_within_the_output_is_not_charged_twice() -> None:
    details = {"reasoning_tokens": 300, "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 50}
    usage = {"prompt_tokens": 8, "completion_tokens": 500, "total_tokens": 508, "completion_tokens_details": details}
    assert charged(usage) == ceil(8 * 2.5 + 500 * 15)


@pytest.mark.parametrize("details", [{}, {"reasoning_tokens": 512}])
def test_reasoning_beside_the_output_is_not_free(details: Any) -> None:
    usage = {"prompt_tokens": 8, "completion_tokens": 20, "total_tokens": 540, "completion_tokens_details": details}
    assert charged(usage) == ceil(8 * 2.5 + 532 * 15)


def test_hits_and_misses_are_parts_of_the_prompt() -> None:
    usage = {
        "prompt_tokens": 16_111,
        "completion_tokens": 2,
        "prompt_cache_hit_tokens": 15_872,
        "prompt_cache_miss_tokens": 239,
        "prompt_tokens_details": {"cached_tokens": 15_872},
    }
    assert charged(usage) == ceil(239 * 2.5 + 15_872 * 0.25 + 2 * 15)
