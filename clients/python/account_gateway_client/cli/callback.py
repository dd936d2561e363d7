"""Waits on loopback for the browser to come back from the portal. RFC 8252 section 7.3, RFC 9207."""

import hmac
import html
import queue
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from account_gateway_client.cli.errors import CommandError, NotSignedIn, TimedOut

HOST, PATH = "127.0.0.1", "/callback"
IDLE_SECONDS = 10.0
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>{title}</title>
<style>body {{ font: 1.1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 15vh auto; padding: 0 1rem }}</style></head>
<body><h1>{title}</h1><p>{text}</p></body></html>
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

Answer = Mapping[str, str]


class Callback:
    """A server on a free port of 127.0.0.1 that takes one answer: that with the right `state`."""

    def __init__(self, *, state: str, issuer: str) -> None:
        self._state = state
        self._issuer = issuer
        self._answers: queue.Queue[Answer] = queue.Queue(1)
        self._server = _Server((HOST, 0), _Handler)
        self._server.callback = self

    def __enter__(self) -> "Callback":
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def port(self) -> int:
        """Return the port that the browser comes back to."""
        return int(self._server.server_address[1])

    @property
    def redirect_uri(self) -> str:
        """Return the address that the browser comes back to."""
        return f"http://{HOST}:{self.port}{PATH}"

    def expects(self, answer: Answer) -> bool:
        """Return whether this is the answer to our request, and not one that another page made up."""
        return hmac.compare_digest(answer.get("state", "").encode(), self._state.encode())

    def take(self, answer: Answer) -> None:
        """Keep the first answer."""
        if self._answers.empty():
            self._answers.put(answer)

    def code(self, timeout_seconds: float) -> str:
        """Wait for the code. Raises TimedOut, NotSignedIn where the person or the gateway refused, and CommandError for an
        answer of another gateway."""
        try:
            answer = self._answers.get(timeout=timeout_seconds)
        except queue.Empty:
            raise TimedOut(
                f"Nobody has signed in within {timeout_seconds:.0f} seconds: run `agw login` again."
            ) from None
        if answer.get("iss") != self._issuer:
            raise CommandError(
                "The answer came from another gateway than the one that was asked: nothing was signed in."
            )
        if "code" not in answer:
            raise NotSignedIn(_refusal(answer))
        return answer["code"]


class _Server(ThreadingHTTPServer):
    callback: Callback
    daemon_threads = True
    block_on_close = False  # browsers keep spare connections open

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore browsers that disconnect."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = IDLE_SECONDS
    server_version, sys_version = "agw", ""

    def do_GET(self) -> None:
        """Answer with a page for the person."""
        parts = urlsplit(self.path)
        answer = {name: values[0] for name, values in parse_qs(parts.query).items() if len(values) == 1}
        if parts.path != PATH or not self.server.callback.expects(answer):
            return self._page(404, "Not here", "This address only serves the sign-in that agw has just begun.")
        title = "Back to the terminal" if "code" in answer else "Nothing was allowed"
        self._page(200, title, "agw goes on there. You can close this page.")
        return self.server.callback.take(answer)

    def _page(self, status: int, title: str, text: str) -> None:
        body = PAGE.format(title=html.escape(title), text=html.escape(text)).encode()
        self.send_response(status)
        headers = {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body)), "Connection": "close"}
        safe = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "Content-Security-Policy": POLICY}
        for name, value in (headers | safe).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        """Log nothing: the address has the code."""


def _refusal(answer: Answer) -> str:
    error = answer.get("error", "no code")
    if error == "access_denied":
        return "The sign-in was refused on the portal's page."
    why = answer.get("error_description")
    return f"The gateway refused the sign-in: {error}{f', {why}' if why else ''}."
