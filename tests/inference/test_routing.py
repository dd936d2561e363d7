"""Which deployment a call goes to."""

import pytest

from gateway.core.contract.errors import InvalidRequest, ModelUnavailable, UpstreamTimeout
from inference.interface.answer import Answer
from inference.interface.model import DeploymentTarget, UpstreamTarget
from inference.interface.plan import longest_seconds
from inference.interface.upstream import (
    Alarm,
    Ambiguous,
    Failed,
    Outcome,
    Overloaded,
    Rejected,
    Unreachable,
)
from inference.metering import routing
from inference.metering.routing import choose


@pytest.fixture(autouse=True)
def _new_process() -> None:
    routing.forget()


def deployment(name: str, priority: int = 0, weight: int = 1) -> DeploymentTarget:
    upstream = UpstreamTarget(name="primary", adapter="openai", base_url="http://127.0.0.1/v1", api_key="")
    return DeploymentTarget(id=name, upstream=upstream, model=name, priority=priority, weight=weight)


def test_the_lowest_priority_goes_first() -> None:
    deployments = [deployment("spare", priority=1), deployment("main", priority=0)]
    assert {routing.pick(deployments).id for _ in range(50)} == {"main"}


def test_equals_share_by_weight() -> None:
    deployments = [deployment("one", weight=1), deployment("three", weight=3)]
    chosen = [choose(deployments, lambda _: False, step / 400) for step in range(400)]
    assert [chosen.count(one) for one in deployments] == [100, 300]


def test_the_largest_share_still_picks_somebody() -> None:
    deployments = [deployment("a", weight=0), deployment("b", weight=0)]
    assert choose(deployments, lambda _: False, 0.999) is deployments[1]


@pytest.mark.parametrize(
    "outcome",
    [
        Unreachable("refused"),
        Failed(500),
        Overloaded(),
        Ambiguous(UpstreamTimeout(), "timed out"),
        Rejected(ModelUnavailable(), alarm=Alarm("401", "said 401")),
    ],
)
def test_a_failing_deployment_makes_way_for_the_next_priority(outcome: Outcome) -> None:
    main, spare = deployment("main"), deployment("spare", priority=1)
    for _ in range(3):
        assert routing.pick([main, spare]) is main
        routing.note_outcome(main, outcome)
    assert routing.pick([main, spare]) is spare


@pytest.mark.parametrize("outcome", [Answer({}, {}), Rejected(InvalidRequest())])
def test_what_is_no_failure_of_the_upstream_heals(outcome: Outcome) -> None:
    main, spare = deployment("main"), deployment("spare", priority=1)
    for _ in range(5):
        routing.note_outcome(main, Failed(500))
        routing.note_outcome(main, Failed(500))
        routing.note_outcome(main, outcome)
    assert routing.pick([main, spare]) is main


def test_where_all_are_set_aside_the_one_back_soonest_serves() -> None:
    late, soon = deployment("late"), deployment("soon", priority=9)
    routing.note_outcome(late, Overloaded(retry_after=50.0))
    routing.note_outcome(soon, Overloaded(retry_after=5.0))
    assert {routing.pick([late, soon]).id for _ in range(5)} == {"soon"}


def test_a_single_deployment_is_never_refused() -> None:
    only = deployment("only")
    for _ in range(20):
        routing.note_outcome(only, Failed(500))
        assert routing.pick([only]) is only


def test_what_a_call_has_tried_comes_last() -> None:
    main, spare = deployment("main"), deployment("spare", priority=1)
    assert routing.pick([main, spare], tried=["main"]) is spare
    assert routing.pick([main, spare], tried=["main", "spare"]) is main
    assert routing.is_elsewhere_to_go([main, spare], ["main"])
    assert not routing.is_elsewhere_to_go([main, spare], ["main", "spare"])
    routing.note_outcome(spare, Overloaded(retry_after=5.0))
    assert not routing.is_elsewhere_to_go([main, spare], ["main"])


def test_the_deployments_bound_how_long_a_call_can_last() -> None:
    assert longest_seconds([deployment("main")]) == 160.0
