"""The comparison of the two ledgers sees every micro-USD that is wrong."""

from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from bench.books import Served, reconcile, served_work
from bench.config import FULL_MODEL
from bench.prices import of_entry, plain, rounded


def call(name: str, *, state: str = "settled", charge: int | None = 2, hold: int = 50, max_cost: int = 100) -> Any:
    return SimpleNamespace(id=name, state=state, charge_microusd=charge, hold_microusd=hold, max_cost_microusd=max_cost)


SERVED = Served(cost_microusd=2, prompt_tokens=4, completion_tokens=2)


@pytest.mark.parametrize(
    ("prompt", "completion", "microusd"), [(0, 0, 0), (1, 0, 1), (4, 2, 2), (20, 5, 6), (21, 5, 7)]
)
def test_a_price_is_summed_exactly_and_rounded_up_once(prompt: int, completion: int, microusd: int) -> None:
    assert rounded(plain(prompt, completion)) == microusd


@pytest.mark.parametrize(
    ("tier", "prompt", "exact"),
    [
        ("default", 100, "21.3675"),
        ("default", 101, "35.7225"),
        ("flex", 500, "42.8925"),
        ("priority", 100, "32.6675"),
        ("priority", 101, "37.9175"),
    ],
)
def test_a_price_in_full_follows_tier_band_and_caches(tier: str, prompt: int, exact: str) -> None:
    caches = {"cached_tokens": 7, "cache_write_tokens": 20, "cache_write_1h_tokens": 5}
    entry = {"model": FULL_MODEL, "service_tier": tier, "prompt_tokens": prompt, "completion_tokens": 10, **caches}
    assert of_entry(entry) == Decimal(exact)


def test_equal_ledgers_have_no_drift() -> None:
    books = reconcile([call("a"), call("b")], {"a": SERVED, "b": SERVED}, overdraft=0, still_open=0)
    assert (books.settled, books.charged_microusd, books.served_microusd) == (2, 4, 4)
    assert (books.drift_microusd, books.overspend_microusd, books.unmatched) == (0, 0, 0)


def test_errors_that_cancel_out_are_still_drift() -> None:
    calls = [call("a", charge=1), call("b", charge=3)]
    assert reconcile(calls, {"a": SERVED, "b": SERVED}, overdraft=0, still_open=0).drift_microusd == 2


def test_work_that_nobody_pays_is_drift() -> None:
    books = reconcile([call("a", state="released", charge=None)], {"a": SERVED}, overdraft=0, still_open=0)
    assert (books.drift_microusd, books.unmatched, books.released) == (2, 1, 1)


def test_a_charge_without_work_is_drift() -> None:
    books = reconcile([call("a")], {}, overdraft=0, still_open=0)
    assert (books.drift_microusd, books.unmatched) == (2, 1)


def test_a_call_in_review_is_neither_charged_nor_a_stranger() -> None:
    books = reconcile([call("a", state="review", charge=None)], {"a": SERVED}, overdraft=0, still_open=0)
    assert (books.drift_microusd, books.unmatched, books.in_review) == (0, 0, 1)


def test_overspend_counts_charges_beyond_holds_and_holds_beyond_the_callers_limit() -> None:
    calls = [call("a", charge=60, hold=50), call("b", hold=103, max_cost=100)]
    work = {"a": Served(60, 0, 100), "b": SERVED}
    assert reconcile(calls, work, overdraft=5, still_open=0).overspend_microusd == 10 + 3 + 5


def test_work_is_summed_by_the_callers_key_without_refusals() -> None:
    entry = {"id": "1", "client_request_id": None, "prompt_tokens": 4, "completion_tokens": 2}
    entries = [
        {**entry, "idempotency_key": "a", "outcome": "cut"},
        {**entry, "idempotency_key": "a", "outcome": "complete"},
        {**entry, "idempotency_key": "b", "outcome": "refused"},
        {**entry, "idempotency_key": None, "outcome": "complete"},
    ]
    assert served_work(entries) == {"a": Served(4, 8, 4), "keyless 1": SERVED}
