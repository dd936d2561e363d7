"""Traces: what a collector gets of a request by OTLP, whose trace it continues, and what a collector can do to the gateway."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from opentelemetry.proto.trace.v1 import trace_pb2
from pytest_django import Settings

from gateway.core.telemetry import observers
from gateway.core.telemetry.adapters.opentelemetry import Tracer
from gateway.core.telemetry.observation import Observation, Outcome, Step
from gateway.core.telemetry.operations import tracing
from gateway.run.options import PROJECT_DIR
from gateway.run.settings import settings_problems
from tests.support.collector import Collector, collector
from tests.support.concurrency import eventually
from tests.support.stage import CHAT, Stage, chat

PATHS = {"chat.completions": CHAT}
TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
SAMPLED, NOT_SAMPLED = (f"00-{TRACE}-{PARENT}-{flags}" for flags in ("01", "00"))
SECOND = 10**9


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)


def observed(**fields: object) -> Observation:
    """Return the observation of a call that ended after nine seconds, at its second attempt."""
    one = Observation("chat.completions", "req_1", SAMPLED, "vendor=1")
    for step, second in ((Step.AUTHENTICATED, 1), (Step.RECEIVED, 2), (Step.CHECKED, 3), (Step.HELD, 4)):
        one.mark_at(step, one.began_ns + second * SECOND)
    for upstream, second, cause, status in (("first", 4, "upstream_5xx", 500), ("second", 6, "", 200)):
        one.begin_attempt("7", upstream)
        one.attempts[-1].began_ns = one.began_ns + second * SECOND
        one.attempts[-1].ended_ns = one.began_ns + (second + 1) * SECOND
        one.attempts[-1].cause, one.attempts[-1].status = cause, status
    one.attempts[-1].first_byte_ns = one.began_ns + 6 * SECOND + SECOND // 2
    one.mark_at(Step.UPSTREAM_DONE, one.began_ns + 7 * SECOND)
    one.mark_at(Step.SETTLED, one.began_ns + 8 * SECOND)
    one.ended_ns = one.began_ns + 9 * SECOND
    one.model, one.product, one.usage_id, one.outcome = "fast", "studio", "use_1", Outcome.SETTLED
    one.status, one.charge_microusd, one.hold_microusd = 200, 12, 40
    one.account, one.org_id, one.client_id, one.credential = "did:web:a.example", "org_1", "client_1", "thumbprint"
    for name, value in fields.items():
        setattr(one, name, value)
    return one


@contextmanager
def tracer(to: Collector, monkeypatch: pytest.MonkeyPatch, **variables: str) -> Iterator[Tracer]:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", to.origin)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    made = Tracer(PATHS)
    yield made
    made.close(60)


def sent(one: Observation, monkeypatch: pytest.MonkeyPatch, **variables: str) -> Collector:
    """Return what a collector has got of one request."""
    with collector() as found, tracer(found, monkeypatch, **variables) as made:
        made.observe(one)
    return found


def test_a_request_is_a_span_with_one_for_each_step_and_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    one = observed()
    found = sent(one, monkeypatch)
    root = found.named(f"POST {CHAT}")
    assert root.resource["service.name"] == "account-gateway"
    assert root.span.kind == trace_pb2.Span.SPAN_KIND_SERVER
    assert root.span.status.code == trace_pb2.Status.STATUS_CODE_UNSET
    assert (root.span.trace_id.hex(), root.span.parent_span_id.hex()) == (TRACE, PARENT)
    assert root.span.trace_state == "vendor=1"
    assert root.attributes == {
        "http.request.method": "POST",
        "http.route": CHAT,
        "http.response.status_code": 200,
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "fast",
        "gateway.route": "chat.completions",
        "gateway.request_id": "req_1",
        "gateway.usage_id": "use_1",
        "gateway.outcome": "settled",
        "gateway.product": "studio",
        "gateway.charge_microusd": 12,
    }
    began_ns = root.span.start_time_unix_nano
    assert abs(began_ns - one.began_at.timestamp() * 1e9) < SECOND
    times = {
        (each.span.name, each.attributes.get("gateway.upstream")): (
            (each.span.start_time_unix_nano - began_ns) // SECOND,
            (each.span.end_time_unix_nano - began_ns) // SECOND,
        )
        for each in found.spans
    }
    assert times == {
        (f"POST {CHAT}", None): (0, 9),
        ("authenticate", None): (0, 1),
        ("receive", None): (1, 2),
        ("check", None): (2, 3),
        ("hold", None): (3, 4),
        ("chat fast", "first"): (4, 5),
        ("chat fast", "second"): (6, 7),
        ("settle", None): (7, 8),
    }
    below = [each for each in found.spans if each is not root]
    assert {each.span.parent_span_id for each in below} == {root.span.span_id}
    assert {each.span.trace_id.hex() for each in below} == {TRACE}
    assert found.named("hold").attributes == {"gateway.hold_microusd": 40}
    first, second = (each for each in found.spans if each.span.name == "chat fast")
    assert first.span.kind == trace_pb2.Span.SPAN_KIND_CLIENT
    assert first.span.status.code == trace_pb2.Status.STATUS_CODE_ERROR
    assert (first.attributes["error.type"], first.attributes["http.response.status_code"]) == ("upstream_5xx", 500)
    assert second.span.status.code == trace_pb2.Status.STATUS_CODE_UNSET
    assert [event.name for event in second.span.events] == ["first byte"]
    for hidden in (b"did:web", b"org_1", b"client_1", b"thumbprint"):
        assert hidden not in b"".join(found.raw)


def test_a_refusal_has_the_span_of_the_request_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    one = Observation("chat.completions", "req_1")
    one.status, one.code, one.outcome, one.cause = 401, "invalid_token", Outcome.REFUSED, "invalid_token"
    [only] = sent(one, monkeypatch).spans
    assert only.span.parent_span_id == b""
    assert only.span.status.code == trace_pb2.Status.STATUS_CODE_UNSET  # the client's mistake, by the conventions
    assert only.attributes["gateway.cause"] == "invalid_token"
    one.status, one.code = 503, "not_ready"
    [only] = sent(one, monkeypatch).spans
    assert only.span.status.code == trace_pb2.Status.STATUS_CODE_ERROR
    assert only.attributes["error.type"] == "not_ready"


def test_the_standard_variables_name_the_service_its_headers_and_how_much_is_sampled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    variables = {
        "OTEL_SERVICE_NAME": "gateway-eu",
        "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test",
        "OTEL_EXPORTER_OTLP_HEADERS": "x-key=secret",
        "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
    }
    found = sent(observed(), monkeypatch, **variables)
    assert found.spans[0].resource["service.name"] == "gateway-eu"
    assert found.spans[0].resource["deployment.environment.name"] == "test"
    assert found.headers[0]["x-key"] == "secret"
    assert found.headers[0]["content-encoding"] == "gzip"
    assert sent(observed(), monkeypatch, OTEL_TRACES_SAMPLER="always_off").spans == []


def test_a_caller_that_does_not_sample_its_trace_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sent(observed(traceparent=NOT_SAMPLED), monkeypatch).spans == []
    forced = sent(observed(traceparent=NOT_SAMPLED), monkeypatch, OTEL_TRACES_SAMPLER="always_on")
    assert len(forced.spans) == 8


@pytest.mark.parametrize("odd", ["", "nonsense", f"ff-{TRACE}-{PARENT}-01", f"00-{'0' * 32}-{PARENT}-01"])
def test_a_traceparent_that_names_no_trace_begins_one(odd: str, monkeypatch: pytest.MonkeyPatch) -> None:
    [root] = [each for each in sent(observed(traceparent=odd), monkeypatch).spans if each.span.name.startswith("POST")]
    assert root.span.parent_span_id == b""
    assert root.span.trace_id.hex() not in (TRACE, "0" * 32)


def test_a_collector_that_hangs_or_is_away_takes_a_bounded_number_and_holds_up_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    with collector(hangs=True) as found:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", found.origin)
        monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "64")
        monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "16")
        made = Tracer(PATHS)
        for _ in range(100):
            made.observe(observed())
        made.close(0.01)  # the collector still hangs, and this returns
    assert len(found.spans) <= 64 + 2 * 16
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    away = Tracer(PATHS)
    away.observe(observed())
    away.close(0.01)
    # Threads that go on, and draw random numbers for their pauses, would disturb other tests.
    eventually(lambda: not [each for each in threading.enumerate() if each.name == "close-traces"])


def test_a_call_through_the_gateway_continues_its_callers_trace(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    caller, alias = stage.caller(), stage.model(max_output_tokens=20)
    prompt = "a-prompt-that-no-collector-gets"
    body = {**chat(alias), "messages": [{"role": "user", "content": prompt}]}
    with collector() as found, tracer(found, monkeypatch) as made:
        observers.subscribe(made.observe)
        try:
            answer = caller.post(body, headers={"traceparent": SAMPLED, "tracestate": "vendor=1"})
            assert answer.status_code == 200
            eventually(lambda: made._provider.force_flush() and any(e.span.name == f"POST {CHAT}" for e in found.spans))
        finally:
            observers.unsubscribe(made.observe)
    root = found.named(f"POST {CHAT}")
    assert (root.span.trace_id.hex(), root.span.trace_state) == (TRACE, "vendor=1")
    assert root.attributes["gateway.usage_id"] == caller.only_call.id
    names = {each.span.name for each in found.spans}
    assert {"authenticate", "check", "hold", "settle", f"chat {alias}"} <= names
    said = answer.json()["choices"][0]["message"]["content"]
    for content in (prompt, said, caller.did, caller.token, stage.api_key):
        assert content.encode() not in b"".join(found.raw)


def test_nothing_is_loaded_or_started_unless_a_collector_is_named() -> None:
    code = (
        "import sys, threading, gateway.asgi; from gateway.core.telemetry.operations import tracing; tracing.start({});"
        "print([name for name in sys.modules if name.startswith('opentelemetry')], threading.active_count())"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=PROJECT_DIR, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "[] 1\n"


def test_a_process_traces_only_while_it_serves(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    with collector() as found:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", found.origin)
        settings.TRACES = True
        tracing.start(PATHS)
        tracing.start(PATHS)
        for _ in range(2):
            one = observed()
            one.ended_ns = None
            observers.finish(one)
            tracing.finish()
        assert len(found.spans) == 8


@pytest.mark.parametrize(
    ("variables", "problems"),
    [
        (
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318"},
            ["OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https address."],
        ),
        (
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
            ["OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf."],
        ),
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, ["OTEL_TRACES_EXPORTER must be otlp or none."]),
        ({"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "collector"}, []),
    ],
)
def test_variables_that_cannot_be_followed_are_named_at_start(variables: dict[str, str], problems: list[str]) -> None:
    assert settings_problems({**os.environ, **variables}, besides=[]) == problems
