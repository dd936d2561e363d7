"""`kill -9` while vectors are made in several calls to one upstream: charged once, released, or in review with its hold."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.utils import timezone

from billing.models import Transfer, UsageRecord
from billing.operations import reviews
from billing.queries import audit
from tests.faults.test_call_crash import journals, recover_later  # noqa: F401
from tests.inference.routes.vectors import BALANCE, Bench, bench
from tests.support.processes import gateway_process
from tests.support.stage import EMBEDDINGS, Stage
from tests.support.vector_upstreams import RepresentationUpstream

CONTEXTUAL = "/v1/embeddings/contextual"
LATE_INTERACTION = "/v1/late-interaction/score"
BODIES: dict[str, dict[str, Any]] = {
    EMBEDDINGS: {"input": ["x"] * 257, "input_type": "document"},
    CONTEXTUAL: {"input_type": "document", "documents": [["a"] * 150, ["b"] * 150]},
    LATE_INTERACTION: {"query": "badgers", "documents": [{"id": "a", "text": "badgers dig"}]},
}
COSTS = {EMBEDDINGS: 2 * 257, CONTEXTUAL: 2 * 300, LATE_INTERACTION: 2 * 3}
"""Each body takes two calls."""

# Moment, number of calls that the upstream answered, the state after recovery, the answer to a retry.
BETWEEN = [
    ("about to send the first of several", 0, "released", 200),
    ("first of several answered", 1, "review", 409),
    ("about to send the second", 1, "review", 409),
    ("about to charge", 2, "settled", 422),
    ("charged", 2, "settled", "replay"),
]
BEFORE_AND_AFTER = [
    ("held", 0, "released", 200),
    ("sending", 0, "review", 409),
    ("answered", 2, "review", 409),
    ("before the charge", 2, "review", 409),
]
MOMENTS = [(path, *row) for path in BODIES for row in BETWEEN] + [(CONTEXTUAL, *row) for row in BEFORE_AND_AFTER]


@pytest.fixture(scope="module")
def upstream_of_vectors() -> Iterator[RepresentationUpstream]:
    with RepresentationUpstream() as upstream:
        yield upstream


def send_and_die(world: Bench, origin: str) -> None:
    """Send a request whose answer never arrives."""
    home, world.caller.origin = world.caller.origin, origin
    with pytest.raises(httpx.TransportError):
        world.caller.post({"model": world.model, **BODIES[world.path]}, path=world.path, key="one", timeout=60)
    world.caller.origin = home


def assert_charged_once(world: Bench) -> None:
    call = world.caller.calls[0]
    assert UsageRecord.objects.filter(call=call).count() == 1
    [charged] = Transfer.objects.filter(kind="charge", source=call.id)
    assert charged.amount_microusd == call.charge_microusd == COSTS[world.path]
    assert world.caller.wallet == {"balance": BALANCE - COSTS[world.path], "held": 0, "debt": 0}


@pytest.mark.parametrize(
    ("path", "moment", "answers", "state", "retry"), MOMENTS, ids=[f"{row[1]} {row[0]}" for row in MOMENTS]
)
def test_a_killed_call_is_charged_once_or_waits_with_its_hold(
    stage: Stage,
    journals: Path,  # noqa: F811
    upstream_of_vectors: RepresentationUpstream,
    path: str,
    moment: str,
    answers: int,
    state: str,
    retry: Any,
) -> None:
    with bench(stage, upstream_of_vectors, path) as world:
        with gateway_process(MOMENT=moment, CALL_JOURNAL_DIR=str(journals)) as (origin, server):
            send_and_die(world, origin)
            assert server.wait(timeout=60) == -signal.SIGKILL
        assert len(upstream_of_vectors.requests) == answers
        recover_later()
        assert audit.findings() == []
        again = world.post(key="one", **BODIES[path])
        first = world.caller.calls[0]
        assert first.state == state
        if state == "released":
            assert (again.status_code, len(upstream_of_vectors.requests)) == (retry, 2)
            assert world.caller.wallet == {"balance": BALANCE - COSTS[path], "held": 0, "debt": 0}
            return
        assert len(upstream_of_vectors.requests) == answers, "a retry asks the upstream nothing"
        if state == "review":
            assert (again.status_code, again.json()["error"]["code"]) == (retry, "idempotency_in_progress")
            world.assert_in_review()
            return
        assert_charged_once(world)
        if retry == "replay":
            assert (again.status_code, again.headers["idempotent-replayed"]) == (200, "true")
        else:
            assert (again.status_code, again.json()["error"]["code"]) == (retry, "idempotency_key_reused")


@pytest.mark.parametrize("path", BODIES)
def test_a_call_killed_while_its_second_part_is_made_is_left_to_the_operator(
    stage: Stage,
    journals: Path,  # noqa: F811
    upstream_of_vectors: RepresentationUpstream,
    path: str,
) -> None:
    with bench(stage, upstream_of_vectors, path) as world:
        with gateway_process(CALL_JOURNAL_DIR=str(journals)) as (origin, server):

            def kill_at_second(call: Any, honest: Any) -> Any:
                if len(upstream_of_vectors.requests) == 2:
                    server.send_signal(signal.SIGKILL)
                return honest

            upstream_of_vectors.twist = kill_at_second
            send_and_die(world, origin)
        recover_later()
        reviews.reconcile(now=timezone.now())
        call = world.caller.only_call
        assert (call.state, call.review_reason, call.evidence) == ("review", "process_died", None)
        world.assert_in_review()
        assert reviews.charge(call.id, cost_microusd=COSTS[path])
        assert_charged_once(world)
        assert audit.findings() == []
