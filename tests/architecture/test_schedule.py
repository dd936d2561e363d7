"""The files that the suite's schedule names are there."""

import pytest

from gateway.run.options import PROJECT_DIR
from tests.support import quick, schedule

SHARED = [path for paths in schedule.SHARED.values() for path in paths]


@pytest.mark.parametrize("path", [*quick.SLOW_PACKAGES, *quick.SLOW_FILES])
def test_what_make_quick_leaves_out(path: str) -> None:
    assert (PROJECT_DIR / "tests" / path).exists()


@pytest.mark.parametrize("path", [*SHARED, *schedule.ONE_GATEWAY, *(f"tests/{name}" for name in schedule.WAITING)])
def test_what_runs_together(path: str) -> None:
    assert (PROJECT_DIR / path).exists()
