"""The token routes of a device, where the gateway asks for nonces or answers something else."""

import base64
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from account_gateway_client import GatewayError, GatewayUnreachable, ProofKey
from account_gateway_client.cli import device_routes
from tests.clients.agw.local_server import Server, begin, running

KEY = ProofKey.generate()
GRANT = {"access_token": "at", "expires_in": 300, "refresh_token": "drt_next"}


@pytest.fixture
def server() -> Iterator[Server]:
    with running() as server:
        yield server


class Nonces:
    """Refuses proofs without the nonce, or always."""

    def __init__(self, *, always: bool = False) -> None:
        self.proofs: list[dict[str, Any]] = []
        self._always = always

    def __call__(self, handler: BaseHTTPRequestHandler) -> None:
        payload = handler.headers["DPoP"].split(".")[1]
        self.proofs.append(json.loads(base64.urlsafe_b64decode(payload + "==")))
        if self._always or self.proofs[-1].get("nonce") != "n-1":
            return answer(handler, 400, {"error": "use_dpop_nonce"}, DPoP_Nonce="n-1")
        return answer(handler, 200, GRANT, DPoP_Nonce="n-2")


def answer(handler: BaseHTTPRequestHandler, status: int, body: Any, **headers: str) -> None:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    begin(handler, status, Content_Length=str(len(content)), **headers)
    handler.wfile.write(content)


def test_a_nonce_is_taken_once(server: Server) -> None:
    server.answer = nonces = Nonces()
    assert device_routes.refresh(server.origin, KEY, "drt_now") == GRANT
    assert [proof.get("nonce") for proof in nonces.proofs] == [None, "n-1"]
    assert {(proof["htm"], proof["htu"]) for proof in nonces.proofs} == {
        ("POST", f"{server.origin}/v1/public/device/token")
    }
    assert not any("ath" in proof for proof in nonces.proofs)
    assert nonces.proofs[0]["jti"] != nonces.proofs[1]["jti"]


def test_a_gateway_that_is_never_content_is_not_asked_forever(server: Server) -> None:
    server.answer = nonces = Nonces(always=True)
    with pytest.raises(GatewayError, match="use_dpop_nonce"):
        device_routes.refresh(server.origin, KEY, "drt_now")
    assert len(nonces.proofs) == 2


def test_a_refusal_is_not_repeated(server: Server) -> None:
    """A credential that is sent once more could end the session."""
    asked: list[str] = []

    def refuse(handler: BaseHTTPRequestHandler) -> None:
        asked.append(handler.path)
        answer(handler, 400, {"error": "invalid_grant"}, DPoP_Nonce="n-1")

    server.answer = refuse
    with pytest.raises(GatewayError, match="invalid_grant"):
        device_routes.refresh(server.origin, KEY, "drt_now")
    assert len(asked) == 1


def test_a_lost_answer_is_asked_for_once_more(server: Server) -> None:
    asked: list[str] = []

    def lose(handler: BaseHTTPRequestHandler) -> None:
        asked.append(handler.path)
        handler.close_connection = True

    server.answer = lose
    with pytest.raises(GatewayUnreachable):
        device_routes.refresh(server.origin, KEY, "drt_now")
    assert len(asked) == 2


@pytest.mark.parametrize(("status", "body"), [(200, b"<html>"), (200, b"[]"), (302, b""), (500, b"")])
def test_an_answer_that_is_no_gateways_is_an_error(server: Server, status: int, body: bytes) -> None:
    server.answer = lambda handler: answer(handler, status, body, Location="http://127.0.0.1:1/")
    with pytest.raises(GatewayError, match="unreadable"):
        device_routes.refresh(server.origin, KEY, "drt_now")


def test_certificates_that_are_not_there_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/nowhere.pem")
    with pytest.raises(GatewayUnreachable, match=r"cannot be asked .*/nowhere\.pem"):
        device_routes.post("https://127.0.0.1:1", device_routes.REFRESH_PATH, ProofKey.generate(), {})
