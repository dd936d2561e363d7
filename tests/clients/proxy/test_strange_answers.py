"""Answers that no gateway gives: nothing of them is taken for a charge, and no tool is led astray."""

import socket
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler

import httpx
import pytest

from account_gateway_client import CachedTokens, Gateway, ProofKey
from account_gateway_client.proxy.server import LocalProxy
from account_gateway_client.tokens import AccessToken
from tests.clients.agw.local_server import Server, begin, running
from tests.clients.proxy.conftest import BODY, CHAT, MAXIMUM
from tests.support.concurrency import PATIENCE_SECONDS


@pytest.fixture
def server() -> Iterator[Server]:
    with running() as server:
        yield server


@pytest.fixture
def proxy(server: Server) -> Iterator[LocalProxy]:
    token = AccessToken("token", frozenset(), float("inf"))
    gateway = Gateway(server.origin, CachedTokens(ProofKey.generate(), lambda: token))
    with LocalProxy(gateway, max_cost_microusd=MAXIMUM) as proxy:
        yield proxy


def answer(server: Server, status: int = 200, body: bytes = b"{}", **headers: str) -> None:
    """Let the server give one answer."""

    def give(handler: BaseHTTPRequestHandler) -> None:
        begin(handler, status, Content_Length=str(len(body)), **headers)
        handler.wfile.write(body)

    server.answer = give


@pytest.mark.parametrize("charge", ["x", "-5", "1.5", "", "9" * 5000, "\xb2"])
def test_a_charge_that_is_none_leaves_the_maximum_reserved(
    tool: httpx.Client, proxy: LocalProxy, server: Server, charge: str
) -> None:
    answer(server, x_service_usage_id="use_1", x_service_charge_microusd=charge)
    assert tool.post(CHAT, json=BODY).json() == {}
    assert (proxy.spending.spent, proxy.spending.reserved) == (0, MAXIMUM)


@pytest.mark.parametrize("charge", ['"x"', "-5", "1.5", "true", "[", "9" * 5000])
def test_a_closing_comment_that_tells_no_charge_passes(
    tool: httpx.Client, proxy: LocalProxy, server: Server, charge: str
) -> None:
    body = b'data: {}\n\n: service {"charge_microusd":' + charge.encode() + b"}\n\n"
    answer(server, body=body, Content_Type="text/event-stream", x_service_usage_id="use_1")
    assert tool.post(CHAT, json=BODY).content == body
    assert (proxy.spending.spent, proxy.spending.reserved) == (0, MAXIMUM)


def test_no_cookie_is_set_for_this_computer(tool: httpx.Client, server: Server) -> None:
    answer(server, Set_Cookie="a=b", Alt_Svc='h3=":1"', X_Kept="1")
    got = tool.post(CHAT, json=BODY).headers
    assert ("set-cookie" in got, "alt-svc" in got, got["x-kept"]) == (False, False, "1")


@pytest.mark.parametrize("place", ["http://[", "//evil.example", "\xe9"])
def test_a_redirect_to_anywhere_is_refused(tool: httpx.Client, server: Server, place: str) -> None:
    answer(server, 307, Location=place)
    got = tool.post(CHAT, json=BODY)
    assert (got.status_code, got.json()["error"]["code"]) == (502, "upstream_error")


def test_an_address_of_any_length_is_answered(proxy: LocalProxy) -> None:
    """More than httpx takes, in one packet of loopback."""
    named = {"Host": f"127.0.0.1:{proxy.port}", "x-api-key": proxy.secret, "Content-Length": "0", "Connection": "close"}
    head = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=PATIENCE_SECONDS) as connection:
        connection.sendall(f"POST {CHAT}?x={'a' * 66_000} HTTP/1.1\r\n{head}\r\n".encode())
        assert connection.recv(65536).split(b" ")[1] in (b"400", b"414")
    assert proxy.spending.reserved == 0
