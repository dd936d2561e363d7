"""The two headers of a metered request."""

from typing import Any

import pytest

from gateway.core.contract.errors import IdempotencyKeyRequired, InvalidRequest, MaxCostRequired
from inference.rules.terms import Terms, read_terms

KEY = (b"idempotency-key", b"one")
COST = (b"x-service-max-cost-microusd", b"5000")


def test_both_are_read() -> None:
    assert read_terms([KEY, COST, (b"host", b"x")]) == Terms("one", 5000)
    assert read_terms([(b"idempotency-key", b"a" * 255), COST]).idempotency_key == "a" * 255


def test_the_key_is_missed_first() -> None:
    with pytest.raises(IdempotencyKeyRequired):
        read_terms([])
    with pytest.raises(MaxCostRequired):
        read_terms([KEY])


@pytest.mark.parametrize("value", [b"1", b"1000000000", b" 7 "])
def test_a_maximum_is_whole_digits_in_range(value: Any) -> None:
    assert read_terms([KEY, (COST[0], value)]).max_cost_microusd == int(value)


@pytest.mark.parametrize(
    "value", [b"0", b"1000000001", b"00000000001", b"", b"1_0", b"\xb2", b"\xd9\xa1", b"1, 2", b"-1"]
)
def test_another_maximum_is_refused(value: Any) -> None:
    with pytest.raises(InvalidRequest) as refused:
        read_terms([KEY, (COST[0], value)])
    assert refused.value.param == "x-service-max-cost-microusd"


@pytest.mark.parametrize("value", [b"", b"a" * 256, b"\x00", b"caf\xe9", b"a\tb"])
def test_another_key_is_refused(value: Any) -> None:
    with pytest.raises(InvalidRequest) as refused:
        read_terms([(KEY[0], value), COST])
    assert refused.value.param == "Idempotency-Key"


@pytest.mark.parametrize("twice", [KEY, COST])
def test_one_that_comes_twice_is_refused(twice: Any) -> None:
    with pytest.raises(InvalidRequest):
        read_terms([KEY, COST, twice])
