"""An OpenID Connect identity provider on loopback: one person is signed in there and consents at once.

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
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import jwt

CLIENT_ID, CLIENT_SECRET = "gateway-portal", "client-secret"
SIGNING_SECRET = "a secret of the identity provider that is long enough"


class IdentityProvider:
    """Its person is `claims`; codes are single-use and bound to redirect URI and PKCE challenge."""

    def __init__(self) -> None:
        self.claims: dict[str, Any] = {"sub": "person-1", "email": "pat@example.com", "name": "Pat Person"}
        self.user_information: Any = None
        """What /userinfo says, where it is not the same as the ID token's claims."""
        self.answers: dict[str, tuple[int, bytes]] = {}
        """Whole answers by path, status and body, in place of proper ones."""
        self.codes: dict[str, dict[str, str]] = {}
        self.issuer = ""

    def configuration(self) -> dict[str, Any]:
        """Describe the provider (OpenID Connect Discovery section 4)."""
        places = {"authorization_endpoint": "authorize", "token_endpoint": "token", "userinfo_endpoint": "userinfo"}
        described = {name: f"{self.issuer}/{path}" for name, path in places.items()}
        return {"issuer": self.issuer, "jwks_uri": f"{self.issuer}/jwks", **described}

    def told(self) -> Any:
        """Give what /userinfo says of the person."""
        return self.claims if self.user_information is None else self.user_information

    def authorize(self, query: dict[str, str]) -> str:
        """Give the location that the browser is sent back to."""
        code = secrets.token_urlsafe()
        self.codes[code] = query
        return query["redirect_uri"] + "?" + urlencode({"code": code, "state": query["state"]})

    def token(self, form: dict[str, str]) -> dict[str, Any] | None:
        """Redeem a code, or None where anything about it is wrong."""
        asked = self.codes.pop(form.get("code", ""), None)
        if asked is None or asked["redirect_uri"] != form.get("redirect_uri"):
            return None
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if asked.get("code_challenge") != base64.urlsafe_b64encode(digest).rstrip(b"=").decode():
            return None
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT_ID, "iat": now, "exp": now + 60, **self.claims}
        id_token = jwt.encode(claims, SIGNING_SECRET, algorithm="HS256")
        return {"access_token": "upstream-token", "token_type": "Bearer", "id_token": id_token}


@contextmanager
def serving() -> Iterator[IdentityProvider]:
    """Run the provider on a free port of loopback."""
    provider = IdentityProvider()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(provider))
    provider.issuer = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(provider: IdentityProvider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            match parts.path:
                case "/.well-known/openid-configuration":
                    self._json(200, provider.configuration())
                case "/authorize":
                    self._redirect(provider.authorize(dict(parse_qsl(parts.query))))
                case "/userinfo":
                    self._json(200, provider.told())
                case _:
                    self._json(404, {})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
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

        def _redirect(self, location: str) -> None:
            self.send_response(302)
            self.send_header("Location", location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Keep the test's output quiet."""

    return Handler
