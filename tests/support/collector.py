"""A collector of traces: takes OTLP over HTTP, as the official protobuf messages, and keeps what it got."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

CONTENT_TYPE = "application/x-protobuf"


@dataclass
class Received:
    """A span, with the attributes of its resource."""

    span: Any
    resource: dict[str, Any]

    @property
    def attributes(self) -> dict[str, Any]:
        """Return the span's attributes as plain values."""
        return plain(self.span.attributes)


@dataclass
class Collector:
    """What was received. While `lets_go` is not set, requests hang."""

    origin: str
    spans: list[Received] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    lets_go: threading.Event = field(default_factory=threading.Event)

    def named(self, name: str) -> Received:
        """Return the only span of that name."""
        [found] = [each for each in self.spans if each.span.name == name]
        return found

    def take(self, path: str, headers: dict[str, str], body: bytes) -> None:
        """Parse a request."""
        assert path == "/v1/traces"
        assert headers["content-type"] == CONTENT_TYPE
        content = gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body
        message = ExportTraceServiceRequest.FromString(content)
        self.headers.append(headers)
        self.raw.append(content)
        for resource in message.resource_spans:
            of_resource = plain(resource.resource.attributes)
            self.spans += [Received(span, of_resource) for scope in resource.scope_spans for span in scope.spans]


def plain(attributes: Any) -> dict[str, Any]:
    """Return attributes as plain values."""
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in attributes}


@contextmanager
def collector(*, hangs: bool = False) -> Iterator[Collector]:
    """Run a collector."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            found.lets_go.wait()
            found.take(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            answer = ExportTraceServiceResponse().SerializeToString()
            self.send_response(200)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *args: Any) -> None:
            """Write nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        found = Collector(f"http://127.0.0.1:{server.server_port}")
        if not hangs:
            found.lets_go.set()
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield found
        finally:
            found.lets_go.set()
            server.shutdown()
            thread.join()
