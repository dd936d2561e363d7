"""The words for why a call failed."""

import aiohttp
import pytest

from gateway.core.contract.errors import InvalidRequest, ModelUnavailable, UpstreamError
from gateway.core.outbound.failures import Failure
from gateway.core.telemetry.causes import Cause, of_status
from inference.adapters.errors import outcome_of_exception
from inference.interface.upstream import Alarm, Ambiguous, Failed, Outcome, Overloaded, Rejected, Unreachable
from inference.rules.causes import cause_of, of_reason
from tests.inference.adapters.attempts import chat

OUTCOMES: list[tuple[Outcome, str]] = [
    (Rejected(InvalidRequest(), status=422), "upstream_422"),
    (Rejected(InvalidRequest()), "upstream_400"),
    (Rejected(ModelUnavailable(), alarm=Alarm("no deployment", "")), "no_deployment"),
    (Rejected(ModelUnavailable(), alarm=Alarm("misconfigured", "")), "misconfigured"),
    (Rejected(ModelUnavailable()), "misconfigured"),
    (Overloaded(status=429), "upstream_429"),
    (Overloaded(status=503), "overloaded"),
    (Overloaded(), "overloaded"),
    (Unreachable(""), "connection"),
    (Unreachable("", is_late=True), "timeout_connect"),
    (Failed(500), "upstream_5xx"),
    (Ambiguous(UpstreamError(), "timed out"), "timeout_first_byte"),
    (Ambiguous(UpstreamError(), "failed in part"), "failed_in_part"),
]


@pytest.mark.parametrize(("outcome", "word"), OUTCOMES, ids=[f"{row[0]!r}"[:60] for row in OUTCOMES])
def test_an_outcome_has_one_word(outcome: Outcome, word: str) -> None:
    assert cause_of(outcome) == word


@pytest.mark.parametrize(
    ("status", "word"),
    [(302, "upstream_3xx"), (402, "upstream_402"), (418, "upstream_4xx"), (599, "upstream_5xx"), (999, "bad_answer")],
)
def test_a_status_has_one_word(status: int, word: str) -> None:
    assert of_status(status) == word


def test_every_failure_of_an_exchange_has_a_word_of_its_own() -> None:
    words = {failure: of_reason(failure.value, has_begun=True) for failure in Failure}
    assert words == {
        Failure.MISCONFIGURED: Cause.MISCONFIGURED,
        Failure.NOT_SENT: Cause.CONNECTION,
        Failure.TIMED_OUT: Cause.TIMEOUT_IDLE,
        Failure.LOST: Cause.CONNECTION,
        Failure.MALFORMED: Cause.BAD_ANSWER,
    }


def test_a_connection_that_is_not_established_in_time_is_late() -> None:
    late = outcome_of_exception(chat("http://127.0.0.1/v1"), aiohttp.ConnectionTimeoutError())
    assert cause_of(late) == "timeout_connect"
