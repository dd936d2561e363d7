"""One call over several attempts: a call is retried only if the upstream cannot have accepted it."""

import asyncio
import time
from dataclasses import replace
from typing import Any

import pytest

from gateway.core.contract.aliases import Route
from inference.interface.answer import Answer
from inference.interface.model import DeploymentTarget
from inference.interface.upstream import Ambiguous, Failed, Outcome, Overloaded, Rejected, Unreachable
from inference.metering import sending
from tests.inference.adapters.attempts import opened, plan, read_all, read_until_broken, target
from tests.inference.adapters.wire import reset, response, serving
from tests.support.concurrency import eventually_async
from tests.support.upstream import FakeUpstream, closed_port

OVERLOADED = response(b'{"error":{"code":"overloaded"}}', status="503 Service Unavailable")
GOOD = response(b'{"choices":[{"index":0,"message":{"content":"ok"}}],"usage":{"prompt_tokens":1}}')


def at(base_url: str, name: str = "a", priority: int = 0, **changes: Any) -> DeploymentTarget:
    return DeploymentTarget(id=name, upstream=target(base_url, **changes), model="small-1", priority=priority)


async def test_an_overload_is_tried_twice_more_in_the_same_call() -> None:
    async with serving(OVERLOADED, OVERLOADED, GOOD) as wire:
        outcome = await sending.send(plan(at(wire.base_url)))
    assert isinstance(outcome, Answer)
    assert {request.headers["Idempotency-Key"] for request in wire.requests} == {"use_01k6wq5zj3y8r2v7n4m9tbcdef"}
    assert len(wire.requests) == 3


async def test_a_lasting_overload_is_returned_after_the_third_attempt() -> None:
    async with serving(OVERLOADED) as wire:
        assert await sending.send(plan(at(wire.base_url))) == Overloaded(None, is_explicit=True)
    assert len(wire.requests) == 3


async def test_a_short_retry_after_is_waited_for_and_a_long_one_is_left_to_the_client() -> None:
    async with serving(response(b"{}", status="429 Too Many", extra="Retry-After: 1\r\n"), GOOD) as wire:
        started = time.monotonic()
        assert isinstance(await sending.send(plan(at(wire.base_url))), Answer)
        assert time.monotonic() - started >= 1.0
    async with serving(response(b"{}", status="429 Too Many", extra="Retry-After: 3\r\n"), GOOD) as wire:
        assert await sending.send(plan(at(wire.base_url, "b"))) == Overloaded(3.0)
        assert len(wire.requests) == 1


async def test_an_upstream_that_refuses_connections_hands_over_to_the_next() -> None:
    async with serving(GOOD) as wire:
        gone = at(f"http://127.0.0.1:{closed_port()}/v1", "gone")
        tried: list[str] = []
        outcome = await sending.send(
            plan(gone, at(wire.base_url, "spare", priority=1)),
            on_attempt=lambda deployment: tried.append(deployment.id),
        )
    assert isinstance(outcome, Answer)
    assert tried == ["gone", "spare"]


async def test_an_overload_with_a_long_wait_is_sent_elsewhere_at_once() -> None:
    busy = response(b"{}", status="429 Too Many", extra="Retry-After: 60\r\n")
    async with serving(busy) as first, serving(GOOD) as second:
        deployments = at(first.base_url, "busy"), at(second.base_url, "spare", priority=1)
        started = time.monotonic()
        for _ in range(3):
            assert isinstance(await sending.send(plan(*deployments)), Answer)
        assert time.monotonic() - started < 30, "half of what the first one asked for"
        assert (len(first.requests), len(second.requests)) == (1, 3)


async def test_an_upstream_that_stays_away_is_unreachable_after_three_attempts() -> None:
    tried: list[str] = []
    gone = at(f"http://127.0.0.1:{closed_port()}/v1", "gone")
    outcome = await sending.send(plan(gone), on_attempt=lambda deployment: tried.append(deployment.id))
    assert isinstance(outcome, Unreachable)
    assert tried == ["gone"] * 3


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        ("secret-error", Failed),
        ("unavailable", Failed),
        ("cut-before-headers", Ambiguous),
        ("hang-before-headers", Ambiguous),
        ("garbage-json", Ambiguous),
        ("reject-parameter", Rejected),
        ("unauthorized", Rejected),
    ],
)
async def test_a_call_that_may_have_been_accepted_is_sent_once(upstream: FakeUpstream, model: str, kind: type) -> None:
    spare = at(upstream.base_url, "spare", priority=1)
    wait_seconds = 1.0 if model.startswith("hang") else 30.0
    first = DeploymentTarget(id="a", upstream=target(upstream.base_url, timeout_seconds=wait_seconds), model=model)
    assert isinstance(await sending.send(plan(first, spare)), kind)
    outcome = await sending.open_stream(plan(first, spare))
    if isinstance(outcome, Outcome):
        assert isinstance(outcome, kind)
    else:
        await outcome.close()
    assert [entry.model for entry in upstream.ledger] == [model, model]


async def test_a_connection_reset_is_not_retried() -> None:
    async def cut(writer: asyncio.StreamWriter) -> None:
        reset(writer)

    async with serving(cut, GOOD) as wire:
        assert isinstance(await sending.send(plan(at(wire.base_url))), Ambiguous)
    assert len(wire.requests) == 1


async def test_a_stream_is_retried_until_it_opens(upstream: FakeUpstream) -> None:
    upstream.script("overloaded", times=2)
    chunks = await read_all(await opened(await sending.open_stream(plan(at(upstream.base_url)))))
    assert sum(chunk.output_deltas for chunk in chunks) == 16
    assert [entry.status for entry in upstream.ledger] == [503, 503, 200]


async def test_deployments_with_an_unknown_adapter_are_skipped(upstream: FakeUpstream) -> None:
    strange = at(upstream.base_url, "strange", adapter="voyage")
    known = at(upstream.base_url, "known", priority=9)
    assert isinstance(await sending.send(plan(strange, known)), Answer)
    for unservable in (plan(strange), plan()):
        outcome = await sending.send(unservable)
        assert isinstance(outcome, Rejected)
        assert outcome.error.code == "model_unavailable"


async def test_a_route_that_the_adapter_lacks_is_not_served_and_alarms(
    upstream: FakeUpstream, caplog: pytest.LogCaptureFixture
) -> None:
    call = replace(plan(at(upstream.base_url)), route=Route.RERANK, endpoints={})
    outcome = await sending.send(call)
    assert isinstance(outcome, Rejected)
    assert outcome.error.code == "model_unavailable"
    assert list(upstream.ledger) == []
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert "no deployment can serve" in caplog.text


async def test_the_demo_serves_only_if_the_settings_allow_it(settings: Any) -> None:
    demo = plan(at("", adapter="demo"))
    assert isinstance(await sending.send(demo), Answer)
    settings.DEMO_ADAPTER = False
    outcome = await sending.send(demo)
    assert isinstance(outcome, Rejected)
    assert outcome.error.code == "model_unavailable"


async def test_a_call_that_is_cancelled_during_its_backoff_is_not_retried() -> None:
    async with serving(response(b"{}", status="429 Too Many", extra="Retry-After: 2\r\n"), GOOD) as wire:
        call = asyncio.create_task(sending.send(plan(at(wire.base_url))))
        await eventually_async(lambda: bool(wire.requests))
        await asyncio.sleep(0.05)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert len(wire.requests) == 1


async def test_a_quota_alarm_is_logged_even_if_another_deployment_served(
    caplog: pytest.LogCaptureFixture,
) -> None:
    spent = response(b'{"error":{"code":"insufficient_quota"}}', status="429 Too Many")
    async with serving(spent) as first, serving(GOOD) as second:
        outcome = await sending.send(plan(at(first.base_url, "spent"), at(second.base_url, "spare", priority=1)))
    assert isinstance(outcome, Answer)
    assert "insufficient_quota" in caplog.text


async def test_an_upstream_whose_streams_break_off_is_set_aside(upstream: FakeUpstream) -> None:
    broken = DeploymentTarget(id="broken", upstream=target(upstream.base_url), model="cut-mid-stream")
    spare = at(upstream.base_url, "spare", priority=1)
    for _ in range(3):
        await read_until_broken(await opened(await sending.open_stream(plan(broken, spare))))
    await read_all(await opened(await sending.open_stream(plan(broken, spare))))
    assert [entry.model for entry in upstream.ledger] == ["cut-mid-stream"] * 3 + ["small-1"]


async def test_a_stream_whose_client_disconnected_does_not_change_the_breaker(upstream: FakeUpstream) -> None:
    endless = DeploymentTarget(id="endless", upstream=target(upstream.base_url), model="endless")
    spare = at(upstream.base_url, "spare", priority=1)
    for _ in range(4):
        stream = await opened(await sending.open_stream(plan(endless, spare)))
        await anext(aiter(stream))
        await stream.close()
    assert [entry.model for entry in upstream.ledger] == ["endless"] * 4
