"""`kill -9` while an image is made or documents are reranked: charged once, released, or in review with its hold."""

import signal
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.utils import timezone

from billing.operations import reviews
from billing.queries import audit
from tests.faults.test_call_crash import journals, recover_later  # noqa: F401
from tests.support.processes import gateway_process
from tests.support.stage import Caller, Stage

BALANCE = 5_000
IMAGES, RERANK = "/v1/images/generations", "/v1/rerank"
PRICES: dict[str, dict[str, Any]] = {IMAGES: {"image": {"1024x1024/medium": "400"}}, RERANK: {"input_kilobyte": "400"}}
MOMENTS = [
    ("held", "released", 0),
    ("about to send", "released", 0),
    ("sending", "review", 400),
    ("answered", "review", 400),
    ("before the charge", "review", 400),
    ("about to charge", "settled", 0),
    ("charged", "settled", 0),
]


def request_at(stage: Stage, path: str, **members: Any) -> dict[str, Any]:
    row = stage.upstream_row(adapter="voyage" if path == RERANK else "openai")
    route = "rerank" if path == RERANK else "images.generations"
    alias = stage.model(price=PRICES[path], upstream=row, options={"routes": [route]})
    members_of_route = {"query": "badgers", "documents": ["a", "b"]} if path == RERANK else {"prompt": "A badger"}
    return {"model": alias, **members_of_route, **members}


def assert_ended(caller: Caller, state: str, held: int) -> None:
    charge = 400 if state == "settled" else 0
    assert caller.only_call.state == state
    assert caller.wallet == {"balance": BALANCE - charge, "held": held, "debt": 0}
    assert audit.findings() == []


@pytest.mark.parametrize("path", [IMAGES, RERANK])
@pytest.mark.parametrize(("moment", "state", "held"), MOMENTS, ids=[row[0] for row in MOMENTS])
def test_a_killed_call_is_charged_once_or_waits_with_its_hold(
    stage: Stage,
    journals: Path,  # noqa: F811
    path: str,
    moment: str,
    state: str,
    held: int,
) -> None:
    body, caller = request_at(stage, path), stage.caller(balance=BALANCE)
    with gateway_process(MOMENT=moment, CALL_JOURNAL_DIR=str(journals)) as (origin, server):
        caller.origin = origin
        with pytest.raises((httpx.TransportError, httpx.StreamError)):
            caller.post(body, path=path, timeout=60)
        assert server.wait(timeout=60) == -signal.SIGKILL
    recover_later()
    assert_ended(caller, state, held)


def test_a_stream_killed_behind_a_partial_image_is_charged_as_that_image(
    stage: Stage,
    journals: Path,  # noqa: F811
) -> None:
    body = request_at(stage, IMAGES, partial_images=2, stream=True)
    caller = stage.caller(balance=BALANCE)
    with gateway_process(CALL_JOURNAL_DIR=str(journals)) as (origin, server), stage.upstream.holding():
        caller.origin = origin
        with caller.stream(body, path=IMAGES) as answer:
            lines = answer.iter_lines()
            assert "partial_image" in next(lines)
            server.send_signal(signal.SIGKILL)
            with pytest.raises(httpx.TransportError):
                list(lines)
    recover_later()
    assert_ended(caller, "review", 400)
    reviews.reconcile(now=timezone.now())
    assert_ended(caller, "settled", 0)
