"""A remote sandbox runner on a real socket, which checks every signature and responds as the test says."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from integrations.rules import signatures


@dataclass
class SandboxRunner:
    """The received requests and the responses: `status` for everything, `report` for queries about a run, and
    additional headers."""

    secret: str
    base_url: str = ""
    status: int = 202
    report: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    requests: list[tuple[str, str, Any]] = field(default_factory=list)
    signatures: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    """The last genuine request's signing headers, by method and path."""

    def take(self, request: BaseHTTPRequestHandler) -> tuple[int, bytes]:
        """Answer one request."""
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        genuine = signatures.is_genuine(
            [self.secret],
            signatures.SignedRequest(request.command, request.path, body),
            timestamp=request.headers[signatures.TIMESTAMP],
            signature=request.headers[signatures.SIGNATURE],
            now=int(time.time()),
        )
        if not genuine:
            return 401, b"{}"
        signed = {name: request.headers[name] for name in (signatures.TIMESTAMP, signatures.SIGNATURE)}
        self.signatures[(request.command, request.path)] = signed
        self.requests.append((request.command, request.path, json.loads(body) if body else None))
        return self.status, json.dumps(self.report).encode()


@contextmanager
def sandbox_runner(secret: str) -> Iterator[SandboxRunner]:
    """Run one, below the path /api of its own port."""
    runner = SandboxRunner(secret)

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            status, body = runner.take(self)
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **runner.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = answer  # noqa: N815 (the library's names)

        def log_message(self, *arguments: Any) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        runner.base_url = f"http://127.0.0.1:{server.server_port}/api"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield runner
        finally:
            server.shutdown()
            thread.join()
