"""Keeps tests that count a day's calls, or compare what two clocks call today, within one UTC day."""

import time
from datetime import UTC, datetime, timedelta

import pytest

TAKES = timedelta(seconds=30)
"""Longer than such a test takes."""


@pytest.fixture
def away_from_midnight() -> None:
    """Wait for the next UTC day if this one is about to end."""
    now = datetime.now(UTC)
    left = timedelta(days=1) - (now - now.replace(hour=0, minute=0, second=0, microsecond=0))
    if left < TAKES:
        time.sleep(left.total_seconds())
