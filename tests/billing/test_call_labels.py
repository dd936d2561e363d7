"""Whatever ends a call is told in words of its own, and nothing of the upstream's own text."""

from typing import cast

import pytest

from billing.rules import call_labels
from billing.rules.call_labels import RELEASED, REVIEWED, ending
from billing.rules.prices import PriceList
from gateway.core.contract.errors import UpstreamError
from gateway.core.outbound.failures import Failure
from inference.interface.request import BoundedRequest
from inference.interface.upstream import Alarm, Failed, Outcome, Overloaded, Rejected, Unreachable
from inference.rules.verdicts import Release, Review, judge


def ending_of(
    state: str,
    review_reason: str | None = None,
    resolution: str | None = None,
    basis: str | None = None,
    overrun_microusd: int = 0,
) -> call_labels.Ending:
    return ending(
        state,
        review_reason=review_reason,
        resolution=resolution,
        basis=basis,
        overrun_microusd=overrun_microusd,
    )


@pytest.mark.parametrize(
    "outcome",
    [
        *(Rejected(UpstreamError(), status=status) for status in (400, 401, 403, 404, 413, 422)),
        *(Rejected(UpstreamError()), Rejected(UpstreamError(), alarm=Alarm("no deployment", ""))),
        *(Overloaded(), Overloaded(status=429), Unreachable("refused"), Unreachable("late", is_late=True)),
        *(Failed(status) for status in (302, 402, 409, 500, 599)),
    ],
    ids=repr,
)
@pytest.mark.parametrize("bills_errors", [False, True])
def test_every_verdict_without_an_answer_has_words(outcome: Outcome, bills_errors: bool) -> None:
    unread = cast("BoundedRequest", None)  # an error is judged without a look at the request
    verdict = judge(outcome, unread, PriceList(), bills_errors=bills_errors)
    assert isinstance(verdict, Release | Review)
    if isinstance(verdict, Release):
        assert verdict.cause in RELEASED
    else:
        assert verdict.reason in REVIEWED


@pytest.mark.parametrize("failure", [Failure.TIMED_OUT, Failure.LOST, Failure.MALFORMED])
def test_every_failure_after_sending_has_words(failure: Failure) -> None:
    assert ending_of("review", failure.value).why == f"{REVIEWED[failure.value]} {call_labels.STANDS}"


def test_an_unknown_reason_has_general_words() -> None:
    for state in ("dispatched", "review", "settled", "released", "anything"):
        assert "script" not in "".join(ending_of(state, "<script>", "<script>", "<script>"))


def test_an_overrun_is_shown_with_the_charge() -> None:
    assert ending_of("settled", basis="upstream", overrun_microusd=1).why.endswith("you do not pay for that.")
    assert ending_of("settled", basis="upstream").why == "Charged for the usage that the provider reported."


def test_a_charge_that_was_found_out_later_is_labelled_so() -> None:
    found = ending_of("settled", "timed out", "upstream", "upstream")
    assert found.why == "The outcome was unknown at first. Charged for the usage in the provider's record."
    assert ending_of("settled", "lost", "delivered", "delivered").why.startswith("The answer broke off.")
