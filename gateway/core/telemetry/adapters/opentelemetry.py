"""Sends spans by the OpenTelemetry SDK, as its standard variables say. Import this module only where traces are wanted: it loads the
SDK, and a tracer starts a thread.

The SDK keeps at most OTEL_BSP_MAX_QUEUE_SIZE spans (2048) in memory and drops others, so a collector that is away or hangs costs
spans and nothing else.
"""

import threading
from collections.abc import Mapping

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from gateway.core.telemetry.observation import Observation
from gateway.core.telemetry.rules.spans import Span, span_of_attempt, span_of_request, spans_of_steps

DEFAULT_SERVICE_NAME = "account-gateway"
SCOPE = "gateway"
UNNAMED = "unknown_service"

_propagator = TraceContextTextMapPropagator()


class Tracer:
    """Makes the spans of finished requests. `paths` has the address of each route."""

    def __init__(self, paths: Mapping[str, str]) -> None:
        self._paths = paths
        # Not at the interpreter's exit, where the library would wait for the collector for as long as it likes.
        self._provider = TracerProvider(resource=_resource(), shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer(SCOPE)

    def observe(self, one: Observation) -> None:
        """Make the spans of a request that has ended, below the span that its `traceparent` names."""
        carrier = {"traceparent": one.traceparent, "tracestate": one.tracestate}
        context = _propagator.extract(carrier, Context()) if one.traceparent else Context()
        origin_ns = int(one.began_at.timestamp() * 1e9) - one.began_ns
        whole = span_of_request(one, self._paths.get(one.route, one.route))
        root = self._begin(whole, context, SpanKind.SERVER, origin_ns)
        if root.is_recording():
            below = set_span_in_context(root, context)
            for step in spans_of_steps(one):
                self._add(step, below, SpanKind.INTERNAL, origin_ns)
            for attempt in one.attempts:
                self._add(span_of_attempt(one, attempt), below, SpanKind.CLIENT, origin_ns)
        _end(root, whole, origin_ns)

    def close(self, seconds: float) -> None:
        """Send what is left, for so long at most. The thread of a collector that hangs ends with the process."""
        closing = threading.Thread(target=self._provider.shutdown, name="close-traces", daemon=True)
        closing.start()
        closing.join(seconds)

    def _add(self, span: Span, context: Context, kind: SpanKind, origin_ns: int) -> None:
        _end(self._begin(span, context, kind, origin_ns), span, origin_ns)

    def _begin(self, span: Span, context: Context, kind: SpanKind, origin_ns: int):  # type: ignore[no-untyped-def] # the SDK's
        return self._tracer.start_span(
            span.name, context, kind, attributes=span.attributes, start_time=origin_ns + span.began_ns
        )


def _end(made, span: Span, origin_ns: int) -> None:  # type: ignore[no-untyped-def] # the SDK's
    if span.first_byte_ns is not None:
        made.add_event("first byte", timestamp=origin_ns + span.first_byte_ns)
    if span.error:
        made.set_status(Status(StatusCode.ERROR))
    made.end(origin_ns + span.ended_ns)


def _resource() -> Resource:
    """Return what OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say, with a name of ours if they give none."""
    found = Resource.create()
    is_named = not str(found.attributes.get(SERVICE_NAME, UNNAMED)).startswith(UNNAMED)
    return found if is_named else found.merge(Resource({SERVICE_NAME: DEFAULT_SERVICE_NAME}))
