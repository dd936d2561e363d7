"""Every verdict finds its kind of fault, and none otherwise."""

from dataclasses import replace

import pytest

from tests.chaos.evidence import Call, Evidence, Work
from tests.chaos.journal import CALL, Attempt, Disturbance, Journal
from tests.chaos.probes import MODEL_ROUTE
from tests.chaos.verdicts import VERDICTS, judge

SETTLED = Call(
    id="use_1",
    payer="alice",
    key="k1",
    state="settled",
    max_cost=100,
    hold=50,
    charge=20,
    review_reason=None,
    resolution=None,
    basis="upstream",
    posted=20,
)
OPEN = replace(SETTLED, state="dispatched", charge=None, posted=0, basis=None)
REVIEWED = replace(OPEN, state="review", review_reason="deadline_passed")
RELEASED = replace(OPEN, state="released")
WORK = Work("use_1", is_complete=True, cost=20, received_at=1.0)
ANSWER = Attempt(
    CALL,
    "gateway-1",
    payer="alice",
    key="k1",
    started_at=1.0,
    ended_at=2.0,
    status=200,
    usage_id="use_1",
    hold=50,
    charge=20,
    is_whole=True,
)
UNTOLD = replace(ANSWER, hold=None, charge=None, usage_id="", status=503, code="not_ready")
PROBE = Attempt(MODEL_ROUTE, "gateway-1", started_at=16.0, ended_at=16.1, status=503, is_whole=True)
CRASH = Disturbance("backend killed", 10.0, 10.0)


def evidence(
    *calls: Call,
    works: tuple[Work, ...] = (WORK,),
    attempts: tuple[Attempt, ...] = (ANSWER,),
    disturbances: tuple[Disturbance, ...] = (),
    overspent: int = 0,
    audit: tuple[str, ...] = (),
) -> Evidence:
    return Evidence(
        calls={call.id: call for call in calls},
        works={work.call_id: [work] for work in works},
        journal=Journal(list(attempts), list(disturbances)),
        overspent=overspent,
        audit=audit,
    )


def found(seen: Evidence) -> list[str]:
    return [verdict.__name__ for name, verdict in VERDICTS.items() if judge(seen)[name]]


def test_a_valid_run_has_no_findings() -> None:
    assert found(evidence(SETTLED)) == []
    assert found(evidence(replace(REVIEWED), attempts=(UNTOLD,), works=(WORK._replace(cost=None),))) == []
    assert found(evidence(RELEASED, attempts=(UNTOLD,), works=(WORK._replace(is_complete=False, cost=None),))) == []


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (evidence(attempts=(UNTOLD,)), ["sent_without_a_hold"]),
        (evidence(), ["sent_without_a_hold", "wrong_receipts"]),
        (evidence(replace(SETTLED, charge=19, posted=19)), ["wrong_receipts", "wrong_charges"]),
        (evidence(SETTLED, attempts=(replace(ANSWER, hold=51, charge=None),)), ["wrong_receipts"]),
        (
            evidence(SETTLED, replace(SETTLED, id="use_2"), works=(WORK, WORK._replace(call_id="use_2"))),
            ["charged_twice"],
        ),
        (evidence(replace(SETTLED, posted=40)), ["charged_twice"]),
        (evidence(REVIEWED, attempts=(UNTOLD,)), ["lost_charges"]),
        (evidence(OPEN, attempts=(UNTOLD,)), ["lost_charges", "left_open"]),
        (evidence(REVIEWED, attempts=(UNTOLD,), works=()), ["stranded"]),
        (evidence(RELEASED, attempts=(UNTOLD,)), ["served_and_released"]),
        (evidence(replace(SETTLED, max_cost=49)), ["overspent"]),
        (evidence(SETTLED, overspent=1), ["overspent"]),
        (evidence(SETTLED, attempts=(replace(ANSWER, ended_at=11.5),)), ["unanswered"]),
        (evidence(SETTLED, attempts=(replace(UNTOLD, status=500),)), ["internal_errors"]),
        (evidence(SETTLED, attempts=(PROBE,), disturbances=(CRASH,)), ["back_too_late"]),
        (evidence(SETTLED, audit=("held cash",)), ["unsound"]),
    ],
)
def test_each_fault_is_found(seen: Evidence, expected: list[str]) -> None:
    assert found(seen) == expected


@pytest.mark.parametrize(("began", "ended", "is_lost"), [(2.5, 6.0, False), (0.5, 1.5, False), (0.2, 0.9, True)])
def test_a_charge_that_died_with_its_process_is_not_lost_by_a_living_one(
    began: float, ended: float, is_lost: bool
) -> None:
    """Its worker may have served it after the server was killed, but not after the next one had responded."""
    death = Disturbance("gateway killed", began, ended, process="gateway-1")
    expected = ["lost_charges"] if is_lost else []
    assert found(evidence(REVIEWED, attempts=(UNTOLD,), disturbances=(death,))) == expected


def test_a_dead_process_keeps_no_client_waiting() -> None:
    death = Disturbance("gateway killed", 1.5, 8.0, process="gateway-1")
    assert found(evidence(SETTLED, attempts=(replace(ANSWER, ended_at=11.5),), disturbances=(death,))) == []


def test_a_probe_cut_short_by_the_next_fault_is_ignored() -> None:
    second = Disturbance("backend killed", 16.05, 17.0)
    assert found(evidence(SETTLED, attempts=(PROBE,), disturbances=(CRASH, second))) == []


def test_a_run_without_faults_has_nothing_to_recover_from() -> None:
    assert found(evidence(SETTLED, attempts=(PROBE,))) == []
