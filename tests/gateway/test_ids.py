"""Identifiers."""

import re

import pytest

from gateway.core.contract.ids import new_id


def test_has_a_prefix_and_26_characters() -> None:
    assert re.fullmatch(r"use_[0-9a-hjkmnp-tv-z]{26}", new_id("use"))


def test_sorts_by_time(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([1_700_000_000_000_000_000, 1_700_000_000_001_000_000])
    monkeypatch.setattr("time.time_ns", lambda: next(times))
    assert new_id("use") < new_id("use")


def test_never_repeats() -> None:
    assert len({new_id("use") for _ in range(10_000)}) == 10_000
