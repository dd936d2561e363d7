"""Token counts of each vendor's usage: where each counter goes, what contradicts itself, and what is reported as unpriced."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.rules.cost import units_of
from billing.rules.prices import PriceList
from billing.rules.quantities import MalformedUsage, Quantities
from inference.rules.token_usage import (
    OTHERS_MAX,
    is_longer_than_five_minutes,
    read_chat,
    read_message,
    read_response,
)
from inference.rules.usage import MissingUsage

PLAIN = PriceList.parse({"input_token": "1", "output_token": "2"})


def chat(prompt: Any = 100, completion: Any = 20, **members: Any) -> dict[str, Any]:
    return {"prompt_tokens": prompt, "completion_tokens": completion, **members}


def within(**parts: Any) -> dict[str, Any]:
    return chat(prompt_tokens_details=parts)


@pytest.mark.parametrize(
    ("usage", "read", "written", "written_1h"),
    [
        (within(cached_tokens=30), 30, None, None),
        (within(cached_tokens=30, cache_write_tokens=40), 30, 40, None),
        (within(cached_tokens=30, cache_creation_tokens=40), 30, 40, None),
        (chat(cached_tokens=30), 30, None, None),
        (chat(prompt_cache_hit_tokens=30, prompt_cache_miss_tokens=70), 30, None, None),
        (chat(cache_read_input_tokens=30, cache_creation_input_tokens=40), 30, 40, None),
        ({**within(cached_tokens=30), "cache_read_input_tokens": 30, "cache_creation_input_tokens": 0}, 30, 0, None),
        ({**within(cached_tokens=0), "cache_read_input_tokens": 30}, 30, None, None),
        ({**within(cached_tokens=None), "prompt_cache_hit_tokens": 30}, 30, None, None),
        (within(cache_creation={"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 30}), None, 40, 30),
        (
            within(
                cache_creation_tokens=40,
                cache_creation_token_details={"ephemeral_5m_input_tokens": 40, "ephemeral_1h_input_tokens": 0},
            ),
            None,
            40,
            0,
        ),
        (chat(cache_creation_input_tokens=40, cache_creation={"ephemeral_1h_input_tokens": 15}), None, 40, 15),
        (within(cache_creation={"ephemeral_30m_input_tokens": 7, "ephemeral_24h_input_tokens": 8}), None, 15, 15),
        (within(cache_creation={"ephemeral_300s_input_tokens": 7, "for_ever": 8}), None, 15, 8),
        (within(cache_creation={}), None, None, None),
    ],
)
def test_what_was_read_and_written_is_found_under_every_name(
    usage: Any, read: Any, written: Any, written_1h: Any
) -> None:
    counted = read_chat(usage)
    assert counted.quantities == Quantities(
        input_tokens=100,
        cached_input_tokens=read,
        cache_write_tokens=written,
        cache_write_1h_tokens=written_1h,
        output_tokens=20,
    )
    assert counted.others == ()


@pytest.mark.parametrize(
    "usage",
    [
        within(cached_tokens=101),
        within(cached_tokens=60, cache_write_tokens=41),
        within(cached_tokens=-1),
        within(cached_tokens=1.0),
        within(cached_tokens=True),
        within(cache_write_tokens="1"),
        {**within(cached_tokens=30), "cache_read_input_tokens": 31},
        within(cache_write_tokens=10, cache_creation={"ephemeral_1h_input_tokens": 11}),
        within(cache_creation={"ephemeral_1h_input_tokens": "1"}),
        within(cache_creation=[1]),
        chat(prompt_tokens_details=[]),
        chat(completion_tokens_details="x"),
        within(mystery_tokens=-1),
        within(mystery_tokens="1"),
        chat(mystery_tokens=1.5),
        chat(prompt=-1),
        chat(completion=10**12),
    ],
)
def test_what_is_no_count_or_contradicts_itself_is_malformed(usage: Any) -> None:
    with pytest.raises(MalformedUsage):
        read_chat(usage)


@pytest.mark.parametrize("read", [read_chat, read_response, read_message])
@pytest.mark.parametrize("usage", [{}, {"input_tokens": 1, "prompt_tokens": 1}, {"output_tokens": 1}])
def test_a_total_that_is_not_there_is_missing(read: Any, usage: Any) -> None:
    with pytest.raises(MissingUsage):
        read(usage)


@pytest.mark.parametrize(
    ("usage", "inputs", "outputs", "others"),
    [
        (within(text_tokens=100, image_tokens=60, video_tokens=1), 100, 20, ()),
        (chat(completion_tokens_details={"reasoning_tokens": 15, "accepted_prediction_tokens": 5}), 100, 20, ()),
        (within(mystery_tokens=30), 100, 20, ("mystery_tokens",)),
        (within(mystery_tokens=0, other_tokens=None, count=7), 100, 20, ()),
        (within(mystery_tokens=130), 230, 20, ("mystery_tokens",)),
        (chat(completion_tokens_details={"image_tokens": 12}), 100, 20, ("image_tokens",)),
        (chat(tool_use_prompt_tokens=30), 130, 20, ("tool_use_prompt_tokens",)),
        (chat(citation_tokens=30), 100, 50, ("citation_tokens",)),
        (chat(citation_tokens=30, total_tokens=150), 100, 50, ("citation_tokens",)),
        (chat(total_tokens=120, completion_tokens_details={"reasoning_tokens": 15}), 100, 20, ()),
        (chat(total_tokens=170, completion_tokens_details={"reasoning_tokens": 50}), 100, 70, ()),
        (chat(total_tokens=170), 100, 70, ("total_tokens",)),
        (chat(total_tokens=90), 100, 20, ()),
        (chat(total_tokens="many"), 100, 20, ()),
        (chat(server_tool_use={"web_search_requests": 2}), 100, 20, ("server_tool_use.web_search_requests",)),
        (chat(num_search_queries=3, num_sources_used=0), 100, 20, ("num_search_queries",)),
        (within(**{"a b\n_tokens": 1}), 100, 20, ("unnamed",)),
        (
            within(**{f"odd{n}_tokens": 1 for n in range(20)}),
            100,
            20,
            tuple(f"odd{n}_tokens" for n in range(OTHERS_MAX)),
        ),
    ],
)
def test_a_counter_of_no_known_kind_is_never_free(usage: Any, inputs: int, outputs: int, others: Any) -> None:
    counted = read_chat(usage)
    assert (counted.quantities.input_tokens, counted.quantities.output_tokens) == (inputs, outputs)
    assert counted.others == others


def test_a_response_counts_like_a_chat() -> None:
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 10, "cache_write_tokens": 60},
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 9, "odd_tokens": 1},
        "total_tokens": 120,
    }
    counted = read_response(usage)
    assert counted.quantities == Quantities(
        input_tokens=100, cached_input_tokens=10, cache_write_tokens=60, output_tokens=20
    )
    assert counted.others == ("odd_tokens",)


def test_the_input_of_a_message_excludes_its_cache() -> None:
    usage = {
        "input_tokens": 10,
        "cache_read_input_tokens": 300,
        "cache_creation_input_tokens": 200,
        "cache_creation": {"ephemeral_5m_input_tokens": 50, "ephemeral_1h_input_tokens": 150},
        "output_tokens": 20,
        "server_tool_use": {"web_search_requests": 1},
        "service_tier": "standard",
    }
    counted = read_message(usage)
    assert counted.quantities == Quantities(
        input_tokens=510,
        cached_input_tokens=300,
        cache_write_tokens=200,
        cache_write_1h_tokens=150,
        output_tokens=20,
    )
    assert counted.others == ("server_tool_use.web_search_requests",)


@pytest.mark.parametrize(
    "members",
    [
        {"input_tokens": -5, "cache_read_input_tokens": 10},
        {"input_tokens": "5"},
        {"cache_read_input_tokens": -1},
        {"cache_creation_input_tokens": 1.5},
        {"cache_creation_input_tokens": 5, "cache_creation": {"ephemeral_1h_input_tokens": 6}},
        {"cache_creation": "x"},
        {"output_tokens": -1},
    ],
)
def test_a_message_at_odds_with_itself_is_malformed(members: Any) -> None:
    with pytest.raises(MalformedUsage):
        read_message({"input_tokens": 5, "output_tokens": 1, **members})


@pytest.mark.parametrize(
    ("price", "unpriced"),
    [
        (
            {},
            {"cache_write_tokens", "cache_write_1h_tokens", "input_audio_tokens", "output_audio_tokens", "odd_tokens"},
        ),
        ({"cache_write_token": "1"}, {"input_audio_tokens", "output_audio_tokens", "odd_tokens"}),
        (
            {"cache_write_1h_token": "1", "input_audio_token": "1", "output_audio_token": "1"},
            {"cache_write_tokens", "odd_tokens"},
        ),
    ],
)
def test_what_has_no_price_of_its_own_is_named(price: Any, unpriced: set[str]) -> None:
    counted = read_chat(
        chat(
            prompt_tokens_details={
                "audio_tokens": 5,
                "odd_tokens": 1,
                "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20},
            },
            completion_tokens_details={"audio_tokens": 3},
        )
    )
    assert set(counted.unpriced(PriceList.parse({"input_token": "1", "output_token": "2", **price}))) == unpriced
    assert counted.unpriced(PriceList.parse({"request": "7"})) == ()


def test_nothing_is_named_where_nothing_was_counted() -> None:
    assert read_chat(within(cached_tokens=5, audio_tokens=0, cache_write_tokens=0)).unpriced(PLAIN) == ()


@pytest.mark.parametrize(
    ("time", "is_longer"),
    [
        ("5m", False),
        ("300s", False),
        ("301s", True),
        ("30m", True),
        ("1h", True),
        ("24h", True),
        ("1d", True),
        ("x", True),
    ],
)
def test_a_time_beyond_five_minutes_is_the_longer_kind(time: str, is_longer: bool) -> None:
    assert is_longer_than_five_minutes(time) is is_longer


COUNT: Any = st.none() | st.integers(-2, 200) | st.sampled_from([1.5, "7", True, [], {}, 10**30])
NAME = st.sampled_from(
    [
        *("cached_tokens", "cache_write_tokens", "cache_creation_tokens", "cache_read_input_tokens", "audio_tokens"),
        *("cache_creation_input_tokens", "reasoning_tokens", "odd_tokens", "text_tokens", "prompt_cache_hit_tokens"),
    ]
)
TIMES = st.dictionaries(st.sampled_from(["ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens", "odd"]), COUNT)
PARTS = st.dictionaries(NAME, COUNT, max_size=4)
GROUP = st.tuples(PARTS, st.none() | TIMES).map(
    lambda pair: pair[0] if pair[1] is None else {**pair[0], "cache_creation": pair[1]}
)
USAGE = st.tuples(
    st.fixed_dictionaries(
        {"prompt_tokens": st.integers(0, 300) | COUNT, "completion_tokens": st.integers(0, 300) | COUNT}
    ),
    GROUP,
    st.fixed_dictionaries(
        {},
        optional={
            "prompt_tokens_details": GROUP | st.just([]),
            "completion_tokens_details": GROUP,
            "total_tokens": COUNT,
        },
    ),
).map(lambda parts: {**parts[1], **parts[0], **parts[2]})
MESSAGE = st.tuples(st.fixed_dictionaries({"input_tokens": COUNT, "output_tokens": COUNT}), GROUP).map(
    lambda parts: {**parts[1], **parts[0]}
)


@given(USAGE)
def test_any_usage_of_a_chat_is_counted_whole_or_refused(usage: Any) -> None:
    try:
        counted = read_chat(usage)
    except (MalformedUsage, MissingUsage):
        return
    units = units_of(counted.quantities)
    assert all(count >= 0 for count in units.values())
    tokens = sum(count for name, count in units.items() if name.endswith("_token"))
    assert tokens == (counted.quantities.input_tokens or 0) + (counted.quantities.output_tokens or 0)
    assert tokens >= usage["prompt_tokens"] + usage["completion_tokens"]


@given(MESSAGE)
def test_any_usage_of_a_message_is_counted_whole_or_refused(usage: Any) -> None:
    try:
        counted = read_message(usage)
    except (MalformedUsage, MissingUsage):
        return
    used = counted.quantities
    assert (used.input_tokens or 0) >= usage["input_tokens"] + (used.cached_input_tokens or 0) + (
        used.cache_write_tokens or 0
    )
    assert all(count >= 0 for count in units_of(used).values())
