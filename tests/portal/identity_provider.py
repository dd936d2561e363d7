"""An OpenID Connect identity provider on loopback, with one signed-in person who always consents.

django-allauth, which we did not write, is the client that proves it: OpenID Connect Core section 3.1.
"""

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import jwt

from tests.support.concurrency import PATIENCE_SECONDS
from tests.support.server_thread import http_server

CLIENT_ID, CLIENT_SECRET = "gateway-portal", "client-secret"
PAT = {"sub": "person-1", "email": "pat@example.com", "name": "Pat Person"}
SIGNING_SECRET = "a secret of the identity provider that is long enough"


class IdentityProvider:
    """`claims` describes its person. Codes are single-use and bound to redirect URI and PKCE challenge."""

    def __init__(self) -> None:
        self.issuer = ""
        self.reset()

    def reset(self) -> None:
        """Return to an honest provider."""
        self.claims: dict[str, Any] = dict(PAT)
        self.user_information: Any = None
        """The UserInfo response, if it differs from the ID token's claims."""
        self.answers: dict[str, tuple[int, bytes]] = {}
        """Responses (status and body) by path that replace the correct ones."""
        self.redirects: dict[str, str] = {}
        """Redirects by path, instead of a response."""
        self.endless: set[str] = set()
        """Paths whose responses take 20 seconds, byte by byte."""
        self.left: list[str] = []
        """Endless responses whose client has disconnected."""
        self.closed: dict[str, Event] = {}
        """Paths that respond when their event is set."""
        self.requests: list[str] = []
        """The requested paths."""
        self.codes: dict[str, dict[str, str]] = {}
        self.wants_pkce = True

    def configuration(self) -> dict[str, Any]:
        """Return the provider's metadata (OpenID Connect Discovery section 4)."""
        places = {"authorization_endpoint": "authorize", "token_endpoint": "token", "userinfo_endpoint": "userinfo"}
        described = {name: f"{self.issuer}/{path}" for name, path in places.items()}
        return {"issuer": self.issuer, "jwks_uri": f"{self.issuer}/jwks", **described}

    def user_info(self) -> Any:
        """Return the UserInfo response."""
        return self.claims if self.user_information is None else self.user_information

    def authorize(self, query: dict[str, str]) -> str:
        """Return the redirect to the client."""
        code = secrets.token_urlsafe()
        self.codes[code] = query
        return query["redirect_uri"] + "?" + urlencode({"code": code, "state": query["state"]})

    def token(self, form: dict[str, str]) -> dict[str, Any] | None:
        """Redeem a code; return None if anything about it is wrong."""
        query = self.codes.pop(form.get("code", ""), None)
        if query is None or query["redirect_uri"] != form.get("redirect_uri"):
            return None
        if self.wants_pkce and not _is_verified(query, form):
            return None
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT_ID, "iat": now, "exp": now + 60, **self.claims}
        claims |= {"nonce": query["nonce"]} if "nonce" in query and "nonce" not in self.claims else {}
        id_token = jwt.encode(claims, SIGNING_SECRET, algorithm="HS256")
        return {"access_token": "upstream-token", "token_type": "Bearer", "id_token": id_token}


def _is_verified(query: dict[str, str], form: dict[str, str]) -> bool:
    """Return whether the code verifier matches the code's challenge (RFC 7636 section 4.6)."""
    digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
    return query.get("code_challenge") == base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


@contextmanager
def serving() -> Iterator[IdentityProvider]:
    """Run the provider on a free port of loopback."""
    provider = IdentityProvider()
    with http_server(ThreadingHTTPServer(("127.0.0.1", 0), _handler(provider))) as provider.issuer:
        yield provider


def _handler(provider: IdentityProvider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if _is_odd(provider, self, parts.path):
                return
            match parts.path:
                case "/.well-known/openid-configuration":
                    self._json(200, provider.configuration())
                case "/authorize":
                    _redirect(self, provider.authorize(dict(parse_qsl(parts.query))))
                case "/userinfo":
                    self._json(200, provider.user_info())
                case _:
                    self._json(404, {})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            if _is_odd(provider, self, self.path):
                return
            token = provider.token(dict(parse_qsl(body)))
            self._json(200 if token else 400, token or {"error": "invalid_grant"})

        def _json(self, status: int, body: Any) -> None:
            made = status, json.dumps(body).encode()
            status, content = provider.answers.get(urlsplit(self.path).path, made)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Keep the test's output quiet."""

    return Handler


def _is_odd(provider: IdentityProvider, handler: BaseHTTPRequestHandler, path: str) -> bool:
    """Perform a path's configured behaviour; return whether it replaces the response."""
    provider.requests.append(path)
    if path in provider.closed:
        provider.closed[path].wait(PATIENCE_SECONDS)
    if path in provider.endless:
        _go_on(provider, handler, path)
    elif path in provider.redirects:
        _redirect(handler, provider.redirects[path])
    return path in provider.endless or path in provider.redirects


def _go_on(provider: IdentityProvider, handler: BaseHTTPRequestHandler, path: str) -> None:
    try:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Long: ")
        for _ in range(400):
            handler.wfile.write(b"x")
            time.sleep(0.05)
    except OSError:
        provider.left.append(path)


def _redirect(handler: BaseHTTPRequestHandler, location: str) -> None:
    handler.send_response(302)
    handler.send_header("Location", location)
    handler.send_header("Content-Length", "0")
    handler.end_headers()
