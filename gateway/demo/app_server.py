"""Serves the browser client's example page on its own origin, as any app would."""

import json
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from gateway.demo import welcome

CLIENT_DIR = Path(__file__).resolve().parents[2] / "clients" / "js"
HOME = "/example/"
SETTINGS_PATH = f"{HOME}settings.json"
WELCOME_PATH = f"{HOME}welcome-credit"
SERVED = ("example", "src")
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
BODY_MAX_BYTES = 4096


class AppServer(ThreadingHTTPServer):
    """The example app. `page_settings` are the settings passed to the page."""

    daemon_threads = True

    def __init__(self, host: str, port: int, page_settings: dict[str, Any]) -> None:
        super().__init__((host, port), Handler)
        self.page_settings = page_settings
        self.origins = {f"http://{name}:{self.server_port}" for name in (host, "localhost")}

    @property
    def policy(self) -> str:
        """Build the page's content security policy: its own files, and calls to the gateway."""
        gateway = urlsplit(self.page_settings["gatewayUrl"])
        socket = "wss" if gateway.scheme == "https" else "ws"
        return (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
            f"connect-src 'self' {gateway.scheme}://{gateway.netloc} {socket}://{gateway.netloc}; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
        )


class Handler(BaseHTTPRequestHandler):
    """Handles one browser connection."""

    server: AppServer
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self) -> None:
        """Serve the page, its settings, or a file of the client."""
        path = urlsplit(self.path).path
        if not self._is_ours():
            self._refuse(HTTPStatus.MISDIRECTED_REQUEST)
        elif path == "/":
            self._answer(HTTPStatus.FOUND, headers={"Location": HOME})
        elif path == SETTINGS_PATH:
            self._json(self.server.page_settings)
        else:
            self._file(path + "index.html" if path.endswith("/") else path)

    def do_POST(self) -> None:
        """Return the welcome credit to an account that requests it from this very page."""
        if not self._is_ours() or self.headers.get("Origin") not in self.server.origins:
            self._refuse(HTTPStatus.FORBIDDEN)
        elif urlsplit(self.path).path != WELCOME_PATH:
            self._refuse(HTTPStatus.NOT_FOUND)
        else:
            self._welcome()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Log nothing, because a callback's address carries a code."""

    def _is_ours(self) -> bool:
        """Return whether the request names this server, to refuse host names of other sites (DNS rebinding)."""
        return f"http://{self.headers.get('Host')}" in self.server.origins

    def _welcome(self) -> None:
        try:
            length = min(int(self.headers.get("Content-Length", "0")), BODY_MAX_BYTES)
            did = json.loads(self.rfile.read(length))["did"]
        except (ValueError, KeyError, TypeError):
            self._refuse(HTTPStatus.BAD_REQUEST)
            return
        amount = welcome.give(did) if isinstance(did, str) else None
        if amount is None:
            self._refuse(HTTPStatus.NOT_FOUND)
        else:
            self._json({"amountMicrousd": amount})

    def _file(self, path: str) -> None:
        file = (CLIENT_DIR / path.lstrip("/")).resolve()
        known = file.suffix in TYPES and file.is_file()
        if not known or not any(file.is_relative_to(CLIENT_DIR / folder) for folder in SERVED):
            self._refuse(HTTPStatus.NOT_FOUND)
            return
        self._answer(HTTPStatus.OK, file.read_bytes(), {"Content-Type": TYPES[file.suffix]})

    def _json(self, value: Any) -> None:
        self._answer(HTTPStatus.OK, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def _refuse(self, status: HTTPStatus) -> None:
        headers = {"Content-Type": "text/plain", "Connection": "close"}  # a body may be left unread
        self._answer(status, status.phrase.encode(), headers)

    def _answer(self, status: HTTPStatus, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        standard = {
            "Content-Length": str(len(body)),
            "Content-Security-Policy": self.server.policy,
            "Cross-Origin-Opener-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
        }
        for name, value in {**standard, **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
