"""A reported quantity is a count, or it is malformed."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.models import UsageRecord
from billing.rules.cost import USAGE_COLUMNS
from billing.rules.quantities import QUANTITY_MAX, QUANTITY_NAMES, MalformedUsage, Quantities


@pytest.mark.parametrize("value", [-1, 1.0, 1.5, True, False, "1", QUANTITY_MAX + 1, 10**30, float("nan"), [], {}])
@pytest.mark.parametrize("name", QUANTITY_NAMES)
def test_refuses_what_is_no_count(name: str, value: Any) -> None:
    with pytest.raises(MalformedUsage, match=name):
        Quantities(**{name: value})


@pytest.mark.parametrize(
    "counts",
    [
        {"cached_input_tokens": 1},
        {"input_tokens": 5, "cached_input_tokens": 6},
        {"input_tokens": 5, "cached_input_tokens": 3, "input_audio_tokens": 3},
        {"output_audio_tokens": 1},
        {"output_tokens": 1, "output_audio_tokens": 2},
    ],
)
def test_refuses_parts_beyond_their_whole(counts: dict[str, Any]) -> None:
    with pytest.raises(MalformedUsage, match="exceed"):
        Quantities(**counts)


def test_tells_what_was_metered() -> None:
    used = Quantities(input_tokens=3, output_tokens=0, image_kind="1024x1024/high")
    assert used.counts() == {"input_tokens": 3, "output_tokens": 0}


def test_names_are_the_usage_records_columns() -> None:
    columns = {field.name for field in UsageRecord._meta.get_fields()}
    assert (
        columns - {"call", "charge_microusd", "basis", "settled_at", "cost_version", "cost_microusd"} == USAGE_COLUMNS
    )


@given(st.one_of(st.integers(), st.floats(), st.booleans(), st.text(), st.binary(), st.none()))
def test_accepts_only_counts(value: Any) -> None:
    is_count = value is None or (type(value) is int and 0 <= value <= QUANTITY_MAX)
    try:
        Quantities(seconds=value)
    except MalformedUsage:
        assert not is_count
    else:
        assert is_count
