"""Whether and when a call is tried again upstream."""

import pytest

from gateway.core.contract.errors import UpstreamTimeout
from inference.interface.answer import Answer
from inference.interface.upstream import Ambiguous, Failed, Overloaded, Unreachable
from inference.metering.sending import pause_before_retry


def pause(
    outcome: object, retries: int = 0, elapsed: float = 0.0, elsewhere: bool = False, jitter: float = 0.5
) -> float | None:
    return pause_before_retry(outcome, retries=retries, elapsed_seconds=elapsed, elsewhere=elsewhere, jitter=jitter)


@pytest.mark.parametrize(
    "outcome", [Answer({}, None), Failed(500), Ambiguous(UpstreamTimeout(), "timed out"), object()]
)
def test_what_may_have_been_taken_stands(outcome: object) -> None:
    assert pause(outcome) is None


@pytest.mark.parametrize("outcome", [Overloaded(), Unreachable("refused")])
def test_the_pause_grows_and_is_spread(outcome: object) -> None:
    assert [pause(outcome, retries=0, jitter=jitter) for jitter in (0.0, 0.5)] == [0.05, 0.1]
    assert [pause(outcome, retries=1, jitter=jitter) for jitter in (0.0, 0.5)] == [0.1, 0.2]
    assert pause(outcome, retries=2) is None


def test_another_deployment_is_tried_at_once() -> None:
    assert pause(Overloaded(retry_after=60.0), elsewhere=True) == 0.0
    assert pause(Unreachable("refused"), retries=1, elsewhere=True) == 0.0
    assert pause(Unreachable("refused"), retries=2, elsewhere=True) is None


def test_a_named_wait_counts_up_to_two_seconds() -> None:
    assert pause(Overloaded(retry_after=2.0)) == 2.0
    assert pause(Overloaded(retry_after=0.0)) == 0.1
    assert pause(Overloaded(retry_after=2.1)) is None


def test_no_attempt_begins_late() -> None:
    assert pause(Unreachable("timed out"), elapsed=9.8) == 0.1
    assert pause(Unreachable("timed out"), elapsed=9.95) is None
    assert pause(Unreachable("timed out"), elapsed=10.1, elsewhere=True) is None
