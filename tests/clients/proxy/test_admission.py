"""The proxy serves programs of this computer that know its secret, and only what a tool needs."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from account_gateway_client import Gateway, ProductKey, ProductServer
from account_gateway_client.proxy.admission import Admission
from account_gateway_client.proxy.refusals import Refusal
from account_gateway_client.proxy.server import LocalProxy
from tests.clients.conftest import ALICE, CAPABILITIES
from tests.clients.proxy.conftest import BODY, CHAT, MAXIMUM
from tests.clients.proxy.held_stand import HeldStand
from tests.clients.stand import AUDIENCE
from tests.support import plain_http
from tests.support.concurrency import PATIENCE_SECONDS


@pytest.fixture(scope="module")
def one_stand(product_key: ProductKey) -> Iterator[HeldStand]:
    with HeldStand(product_key.public_jwks()) as stand:
        yield stand


@pytest.fixture
def stand(one_stand: HeldStand) -> HeldStand:
    one_stand.attempts.clear()
    one_stand.served.clear()
    return one_stand


@pytest.fixture(scope="module")
def one_proxy(one_stand: HeldStand, product_key: ProductKey) -> Iterator[LocalProxy]:
    url, issuer = one_stand.base_url, "https://studio.example"
    server = ProductServer(url, issuer=issuer, audience=AUDIENCE, product="studio", key=product_key)
    gateway = Gateway(url, server.tokens_for(ALICE, CAPABILITIES))
    with LocalProxy(gateway, max_cost_microusd=MAXIMUM) as proxy:
        yield proxy


@pytest.fixture
def proxy(one_proxy: LocalProxy, stand: HeldStand) -> LocalProxy:
    """Use one proxy for all tests of this file, and forget what the stand saw."""
    return one_proxy


def exchange(proxy: LocalProxy, sent: str | bytes) -> bytes:
    """Send bytes on a connection of their own, and return what comes until its end."""
    content = sent.encode("latin-1") if isinstance(sent, str) else sent
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=PATIENCE_SECONDS) as connection:
        connection.sendall(content)
        received = b""
        while piece := connection.recv(65536):
            received += piece
    return received


def head(proxy: LocalProxy, line: str = "GET /v1/models HTTP/1.1", host: str = "", **headers: str) -> str:
    """Write the head of a request that closes its connection."""
    named = {"Host": host or f"127.0.0.1:{proxy.port}", "Connection": "close", "x-api-key": proxy.secret, **headers}
    return "\r\n".join([line, *(f"{name.replace('_', '-')}: {value}" for name, value in named.items()), "", ""])


def status_of(received: bytes) -> int:
    return int(received.split(b" ", 2)[1])


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Basic {secret}"},
        {"Authorization": "{secret}"},
        {"x-api-key": "{secret}x"},
        {"x-api-key": "é"},
        {"x-api-key": ""},
    ],
)
def test_who_does_not_know_the_secret_is_refused(proxy: LocalProxy, stand: HeldStand, headers: dict[str, str]) -> None:
    sent = [(name.encode(), value.format(secret=proxy.secret).encode()) for name, value in headers.items()]
    for path, named in ((CHAT, "authentication_error"), ("/v1/messages", "authentication_error"), ("/nowhere", None)):
        answer = plain_http.request("POST", proxy.base_url + path, json=BODY, headers=sent)
        assert answer.status_code == 401
        assert answer.json()["error"]["type"] == (named or "authentication_error")
        assert (answer.json().get("type") == "error") == (path == "/v1/messages")
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert stand.attempts == []


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_secret_is_taken_as_either_key(proxy: LocalProxy, scheme: str) -> None:
    for headers in ({"Authorization": f"{scheme} {proxy.secret}"}, {"x-api-key": proxy.secret}):
        assert plain_http.request("GET", f"{proxy.base_url}/v1/models", headers=headers).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "127.0.0.1:{port}.evil.example",
        "[::1]:{port}",
        "127.1:{port}",
    ],
)
def test_another_host_is_refused(proxy: LocalProxy, host: str) -> None:
    assert status_of(exchange(proxy, head(proxy, host=host.format(port=proxy.port)))) == 403


def test_localhost_is_this_host(proxy: LocalProxy) -> None:
    assert status_of(exchange(proxy, head(proxy, host=f"LocalHost:{proxy.port}"))) == 200


@pytest.mark.parametrize("name", ["Origin", "Sec_Fetch_Site"])
@pytest.mark.parametrize("value", ["https://evil.example", "null", "cross-site", "same-site", "same-origin"])
def test_web_pages_are_refused(proxy: LocalProxy, name: str, value: str) -> None:
    for line in ("GET /v1/models HTTP/1.1", "OPTIONS /v1/chat/completions HTTP/1.1"):
        received = exchange(proxy, head(proxy, line, **{name: value}))
        assert status_of(received) == 403
        assert b"access-control" not in received.lower()


def test_peers_of_other_computers_are_refused() -> None:
    admission = Admission(80, "secret")
    headers = {"host": "127.0.0.1:80", "x-api-key": "secret"}
    admission.check("127.0.0.1", headers)
    for peer in ("192.0.2.1", "::ffff:192.0.2.1", None):
        with pytest.raises(Refusal):
            admission.check(peer, headers)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/v1",
        "/v1/",
        "/v1/wallet",
        "/v1/billing/checkout",
        "/v1/sync/account-key",
        "/v1/public/device/token",
        "/v1/oauth/token",
        "/v1/organizations",
        "/admin/",
        "//evil.example/v1/models",
        "/v1/models/..",
        "/v1/models/../wallet",
        "/v1/models/%2e%2e/wallet",
        "/v1/responses/%2e%2e%2fwallet",
        "/v1/models/a%0d%0aX: y",
        "/V1/models",
        "/v1//models",
        "/v1/messages/",
        "/v1/realtime",
        "http://evil.example/v1/models",
        "http://127.0.0.1/v1/models",
        "*",
    ],
)
def test_other_paths_are_not_there(proxy: LocalProxy, stand: HeldStand, path: str) -> None:
    received = exchange(proxy, head(proxy, f"GET {path.replace(' ', '')} HTTP/1.1"))
    assert status_of(received) == 404
    assert stand.attempts == []


def test_other_methods_are_refused(proxy: LocalProxy) -> None:
    for method, path in (("GET", CHAT), ("DELETE", "/v1/models"), ("PUT", "/v1/messages"), ("TRACE", "/v1/models")):
        received = exchange(proxy, head(proxy, f"{method} {path} HTTP/1.1"))
        assert status_of(received) == 405
        assert b"allow: " in received.lower()


CHUNKED = "5\r\n{}{}\r\n"


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({"Content-Length": "5", "Transfer-Encoding": "chunked"}, "0\r\n\r\n"),
        ({"Transfer-Encoding": "gzip, chunked"}, "0\r\n\r\n"),
        ({"Transfer-Encoding": "identity"}, ""),
        ({"Transfer-Encoding": "chunked"}, "zz\r\n{}\r\n0\r\n\r\n"),
        ({"Transfer-Encoding": "chunked"}, "-2\r\n{}\r\n0\r\n\r\n"),
        ({"Transfer-Encoding": "chunked"}, "fffffffffffffffffffffffff\r\n{}\r\n0\r\n\r\n"),
        ({"Transfer-Encoding": "chunked"}, "2\r\n{}GET / HTTP/1.1\r\n\r\n"),
        ({"Content-Length": "2, 3"}, "{}"),
        ({"Content-Length": "-1"}, "{}"),
        ({"Content-Length": "+2"}, "{}"),
        ({"Content-Length": "2\r\nContent-Length: 3"}, "{}"),
        ({"X": "a\r\nb c: d"}, "{}"),
        ({"X": "a\x00b"}, "{}"),
        ({"X ": "a"}, "{}"),
        ({"X": "a" * 70_000}, "{}"),
    ],
)
def test_what_can_be_read_in_two_ways_is_refused(
    proxy: LocalProxy, stand: HeldStand, headers: dict[str, str], body: str
) -> None:
    received = exchange(proxy, head(proxy, f"POST {CHAT} HTTP/1.1", **headers) + body)
    assert received.count(b"HTTP/1.1 ") <= 1
    assert received == b"" or status_of(received) in (400, 431)
    assert stand.served == {}


def test_a_folded_header_goes_on_as_one(proxy: LocalProxy, stand: HeldStand) -> None:
    folded = (
        head(proxy, X_Title="one\r\n two")
        .replace("GET /v1/models", f"POST {CHAT}")
        .replace("\r\n\r\n", "\r\nContent-Length: 2\r\n\r\n{}")
    )
    received = exchange(proxy, folded)
    assert received.count(b"HTTP/1.1 ") == 1
    assert all("\n" not in value for attempt in stand.attempts for value in attempt.values())


def test_old_and_special_requests(proxy: LocalProxy) -> None:
    old = exchange(proxy, head(proxy, "GET /v1/models HTTP/1.0"))
    assert status_of(old) == 200
    assert b"transfer-encoding" not in old.lower()
    assert status_of(exchange(proxy, "GET /v1/models HTTP/1.0\r\n\r\n")) == 403
    upgrade = exchange(proxy, head(proxy, Upgrade="websocket", Connection="Upgrade, close"))
    assert status_of(upgrade) == 200
    assert status_of(exchange(proxy, b"\x16\x03\x01\x02\x00\x01\x00")) == 400  # TLS
    assert status_of(exchange(proxy, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")) == 403


def test_a_tool_that_expects_100_continue_gets_it(proxy: LocalProxy) -> None:
    body = b'{"model": "fast"}'
    lines = head(proxy, f"POST {CHAT} HTTP/1.1", Expect="100-continue", Content_Length=str(len(body)))
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=PATIENCE_SECONDS) as connection:
        connection.sendall(lines.encode())
        assert connection.recv(65536).startswith(b"HTTP/1.1 100 ")
        connection.sendall(body)
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")


def test_headers_of_the_connection_and_secrets_stay_here(proxy: LocalProxy, stand: HeldStand) -> None:
    more = {
        "Connection": "close, X-Hop",
        "X-Hop": "1",
        "Cookie": "a=b",
        "X-Forwarded-For": "192.0.2.1",
        "Forwarded": "for=192.0.2.1",
        "DPoP": "x",
        "TE": "trailers",
        "Proxy-Authorization": "Basic x",
        "OpenAI-Beta": "kept",
        "Content-Length": "2",
    }
    exchange(proxy, head(proxy, f"POST {CHAT} HTTP/1.1", Authorization=f"Bearer {proxy.secret}", **more) + "{}")
    [attempt] = stand.attempts
    sent = {name.lower(): value for name, value in attempt.items()}
    assert sent["openai-beta"] == "kept"
    assert proxy.secret not in str(sent)
    assert not {"x-hop", "cookie", "x-forwarded-for", "forwarded", "te", "proxy-authorization", "x-api-key"} & set(sent)
    assert sent["dpop"] != "x"


def test_a_slow_head_ends_and_the_others_are_served(proxy: LocalProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("account_gateway_client.proxy.connections.HEAD_SECONDS", 0.2)
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=PATIENCE_SECONDS) as slow:
        slow.sendall(b"GET /v1/models HTTP/1.1\r\nHost: ")
        assert (
            plain_http.request("GET", f"{proxy.base_url}/v1/models", headers={"x-api-key": proxy.secret}).status_code
            == 200
        )
        assert slow.recv(1) == b""


def test_pipelined_requests_are_answered_in_turn(proxy: LocalProxy, stand: HeldStand) -> None:
    first = head(proxy, f"POST {CHAT} HTTP/1.1", Connection="keep-alive", Content_Length="2") + "{}"
    received = exchange(proxy, first + head(proxy))
    assert received.count(b"HTTP/1.1 200") == 2


def test_a_slow_reader_holds_nobody_up(proxy: LocalProxy, stand: HeldStand) -> None:
    lines = head(proxy, f"POST {CHAT} HTTP/1.1", Content_Length="11") + '{"endless"}'
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=PATIENCE_SECONDS) as slow:
        slow.sendall(lines.encode())
        for _ in range(20):
            assert slow.recv(1)
        assert (
            plain_http.request("GET", f"{proxy.base_url}/v1/models", headers={"x-api-key": proxy.secret}).status_code
            == 200
        )


def test_strangers_who_say_nothing_make_room(proxy: LocalProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("account_gateway_client.proxy.connections.connections_max", lambda: 3)
    with ExitStack() as opened:
        strangers = [
            opened.enter_context(socket.create_connection(("127.0.0.1", proxy.port), timeout=PATIENCE_SECONDS))
            for _ in range(4)
        ]
        assert strangers[0].recv(1) == b""
        for _ in range(3):
            assert (
                plain_http.request(
                    "GET", f"{proxy.base_url}/v1/models", headers={"x-api-key": proxy.secret}
                ).status_code
                == 200
            )


def test_strangers_who_were_refused_make_room_too(proxy: LocalProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("account_gateway_client.proxy.connections.connections_max", lambda: 3)
    wrong = head(proxy, x_api_key="w", Connection="keep-alive").replace("x-api-key: " + proxy.secret, "X: y")
    with ExitStack() as opened:
        strangers = []
        for _ in range(4):
            stranger = socket.create_connection(("127.0.0.1", proxy.port), timeout=PATIENCE_SECONDS)
            strangers.append(opened.enter_context(stranger))
            stranger.sendall(wrong.encode())
            assert stranger.recv(65536).startswith(b"HTTP/1.1 401 ")
        while strangers[0].recv(65536):  # the rest of its answer, and then the end
            pass
        key = {"x-api-key": proxy.secret}
        assert plain_http.request("GET", f"{proxy.base_url}/v1/models", headers=key).status_code == 200
