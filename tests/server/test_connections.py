"""What one connection may hold, and how many one address may have."""

import contextlib
import socket
import time
from typing import Any

import pytest

from gateway.core.contract.limits import HEAD_MAX_BYTES, HEADERS_MAX, PIPELINED_REQUESTS_MAX
from gateway.core.http.server import watch
from gateway.core.http.server.watch import source_of
from tests.inference.calls.test_disconnects import raw_request
from tests.server.crowd import connect, count_open, crowd, read_to_the_end
from tests.support.concurrency import eventually
from tests.support.stage import Stage, chat

GET = b"GET /healthz HTTP/1.1\r\nHost: gateway\r\n"
POST = b"POST /v1/oauth/token HTTP/1.1\r\nHost: gateway\r\nTransfer-Encoding: chunked\r\n\r\n"
HANDSHAKE = (
    b" /ws HTTP/1.1\r\nHost: gateway\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)
TOO_LARGE = b"HTTP/1.1 431 "


def ask(stage: Stage, *pieces: bytes) -> bytes:
    """Send pieces one after the other, and return all that comes until the gateway ends the connection."""
    with connect(stage.origin) as connection:
        try:
            for piece in pieces:
                connection.sendall(piece)
        except OSError:
            pass  # the gateway has ended it meanwhile
        return read_to_the_end(connection)


def test_an_ordinary_head_is_taken(stage: Stage) -> None:
    lines = b"".join(b"x-%d: %s\r\n" % (number, b"a" * 200) for number in range(HEADERS_MAX - 2))
    assert ask(stage, GET + lines + b"Connection: close\r\n\r\n").startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    "pieces",
    {
        "many headers": [GET + b"".join(b"x-%d: a\r\n" % number for number in range(HEADERS_MAX)) + b"\r\n"],
        "a long header": [GET + b"x: " + b"a" * HEAD_MAX_BYTES + b"\r\n\r\n"],
        "a long path": [b"GET /" + b"a" * HEAD_MAX_BYTES + b" HTTP/1.1\r\n\r\n"],
        "a header without end": [GET + b"x: ", *[b"a" * 4096] * 20],
        "headers without end": [GET, *(b"x-%d: %s\r\n" % (number, b"a" * 400) for number in range(200))],
    }.items(),
    ids=lambda item: item[0],
)
def test_a_large_head_is_refused(stage: Stage, pieces: Any) -> None:
    assert ask(stage, *pieces[1]).startswith(TOO_LARGE)


@pytest.mark.parametrize(
    "pieces",
    [
        [POST + b"2\r\n{}\r\n0\r\nx: ", *[b"a" * 4096] * 100],
        [POST + b"2;x=", *[b"a" * 4096] * 100],
    ],
    ids=["trailer", "chunk extension"],
)
def test_what_is_no_body_does_not_pile_up(stage: Stage, pieces: Any) -> None:
    """Either the refusal comes, or its reset has overtaken it; in no case is everything taken."""
    answer = ask(stage, *pieces)
    assert answer == b"" or answer.startswith(TOO_LARGE)


def test_trailers_are_no_headers(stage: Stage) -> None:
    body = b"13\r\ngrant_type=whatever\r\n0\r\nX-Request-Id: from-a-trailer\r\n\r\n"
    head = POST.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    answer = ask(stage, head, body)
    assert answer.startswith(b"HTTP/1.1 4")
    assert b"from-a-trailer" not in answer


def test_pipelined_requests_are_answered_in_order_up_to_a_limit(stage: Stage) -> None:
    requests = (GET + b"\r\n") * (PIPELINED_REQUESTS_MAX - 1) + GET + b"Connection: close\r\n\r\n"
    assert ask(stage, requests).count(b"HTTP/1.1 200 ") == PIPELINED_REQUESTS_MAX
    assert ask(stage, (GET + b"\r\n") * 10_000).count(b"HTTP/1.1 ") <= PIPELINED_REQUESTS_MAX + 1


def test_a_body_that_never_begins_ends_the_connection_long_before_a_body_must_be_complete(
    stage: Stage, settings: Any
) -> None:
    settings.HEAD_SECONDS = settings.BODY_IDLE_SECONDS = 0.2
    settings.BODY_SECONDS = settings.LARGE_BODY_WAIT_SECONDS = 10_000.0
    alias, caller = stage.model(max_output_tokens=20), stage.caller()
    heads = [raw_request(caller, chat(alias)).partition(b"\r\n\r\n")[0] for _ in range(2)]
    openings = [heads[0] + b"\r\n\r\n", heads[1] + b"\r\nExpect: 100-continue\r\n\r\n"]
    with crowd(stage.origin, openings) as clients:
        eventually(lambda: count_open(clients) == 0)


def test_what_cannot_be_parsed_is_not_answered_within_another_answer(stage: Stage) -> None:
    alias, caller = stage.model(max_output_tokens=20), stage.caller()
    with stage.upstream.holding(), connect(stage.origin) as connection:
        connection.sendall(raw_request(caller, chat(alias)))
        eventually(lambda: len(stage.upstream.ledger) == 1)
        connection.sendall(b"\x00\x00\r\n\r\n")
        assert read_to_the_end(connection) == b""
    eventually(lambda: [call.state for call in caller.calls] == ["settled"])


def test_one_address_has_so_many_connections(stage: Stage, settings: Any) -> None:
    settings.CONNECTIONS_PER_ADDRESS_MAX = 20
    with crowd(stage.origin, [b""] * 30) as clients:
        eventually(lambda: count_open(clients) <= 20)
        refused = [read_to_the_end(client) for client in clients if not count_open([client])]
        assert all(answer.startswith(b"HTTP/1.1 429 ") for answer in refused)
        settings.TRUSTED_PROXIES = ["127.0.0.0/8"]
        assert ask(stage, GET + b"Connection: close\r\n\r\n").startswith(b"HTTP/1.1 200 ")


def handed_over() -> list[Any]:
    """List the connections that the server counts and has passed to the WebSocket protocol."""
    counted = [connection for each in list(watch._watches.values()) for connection in list(each._sources)]
    return [connection for connection in counted if getattr(connection, "_is_handed_over", False)]


@pytest.mark.parametrize(
    "handshake",
    {
        "a body": b"GET" + HANDSHAKE + b"Content-Length: 5\r\n\r\nhello",
        "a body in chunks": b"GET" + HANDSHAKE + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "a long line": b"GET" + HANDSHAKE + b"x: " + b"a" * 10_000 + b"\r\n\r\n",
    }.items(),
    ids=lambda item: item[0],
)
def test_websocket_handshakes_that_cannot_be_read_are_counted_and_end(
    stage: Stage, settings: Any, handshake: tuple[str, bytes]
) -> None:
    eventually(lambda: not handed_over())  # an earlier case's may be counted until the server looks at them again
    settings.CONNECTIONS_PER_ADDRESS_MAX, settings.HEAD_SECONDS = 20, 600.0
    with crowd(stage.origin, [handshake[1]] * 20) as clients:
        assert ask(stage, GET + b"\r\n").startswith(b"HTTP/1.1 429 ")
        settings.HEAD_SECONDS = 1.0
        eventually(lambda: count_open(clients) == 0)
    eventually(lambda: ask(stage, GET + b"Connection: close\r\n\r\n").startswith(b"HTTP/1.1 200 "))


@pytest.mark.parametrize(("method", "status"), [(b"GET", b"404"), (b"POST", b"405")])
def test_an_answered_websocket_handshake_is_counted_no_longer(
    stage: Stage, settings: Any, method: bytes, status: bytes
) -> None:
    settings.CONNECTIONS_PER_ADDRESS_MAX = 20
    for _ in range(60):
        eventually(lambda: ask(stage, method + HANDSHAKE + b"\r\n").startswith(b"HTTP/1.1 " + status))


@pytest.mark.parametrize(
    ("address", "source"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("fe80::1%eth0", "fe80::"),
    ],
)
def test_an_ipv6_host_counts_with_its_network(address: str, source: str) -> None:
    assert source_of(address) == source


def test_a_stream_that_nobody_reads_ends_and_is_charged_by_what_was_delivered(stage: Stage, settings: Any) -> None:
    settings.WRITE_SECONDS = 1.0
    alias = stage.model("small-1?endless=1", max_output_tokens=500_000)
    caller = stage.caller(balance=5_000_000)
    request = raw_request(caller, chat(alias, stream=True)).replace(b"100000", b"900000")
    with crowd(stage.origin, [request]) as clients:
        eventually(lambda: bool(caller.calls) and caller.calls[0].state == "settled")
        eventually(lambda: count_open(clients) == 0)
    [entry], call = stage.upstream.ledger, caller.only_call
    record = call.usage_record
    eventually(lambda: entry.outcome == "left")
    assert record.basis == "delivered"
    assert 0 < record.output_tokens <= entry.completion_tokens
    cost = -(-(record.input_tokens * 150_000 + record.output_tokens * 600_000) // 10**6)
    assert call.charge_microusd == cost
    assert caller.wallet == {"balance": 5_000_000 - cost, "held": 0, "debt": 0}


def test_a_client_that_reads_slowly_is_served(stage: Stage, settings: Any) -> None:
    settings.WRITE_SECONDS = 5.0
    alias = stage.model("small-1?tokens=60000", max_output_tokens=60_000)
    caller = stage.caller(balance=5_000_000)
    with connect(stage.origin, 65_536) as connection:
        connection.sendall(raw_request(caller, chat(alias, stream=True)))
        received, began = b"", time.monotonic()
        while piece := connection.recv(65_536):
            received += piece
            time.sleep(0.03)  # 2 MB a second
            if b": service " in received[-500:]:
                break
    assert time.monotonic() - began > settings.WRITE_SECONDS
    assert b'"charge_microusd":' in received[-500:], received[-500:]
    assert caller.only_call.state == "settled"


def trickle(client: socket.socket) -> None:
    """Read a byte now and then until the gateway has ended the connection."""

    def is_ended() -> bool:
        with contextlib.suppress(ConnectionResetError):
            client.recv(1)
        return not count_open([client])

    eventually(is_ended)


def test_a_stream_that_is_read_by_the_byte_is_cut_and_charged_by_what_was_delivered(
    stage: Stage, settings: Any
) -> None:
    settings.WRITE_SECONDS = 1.0
    alias = stage.model("small-1?endless=1", max_output_tokens=500_000)
    caller = stage.caller(balance=5_000_000)
    request = raw_request(caller, chat(alias, stream=True)).replace(b"100000", b"900000")
    with crowd(stage.origin, [request]) as [client]:
        trickle(client)
    eventually(lambda: caller.only_call.state == "settled")
    charged = caller.only_call.charge_microusd
    assert 0 < charged < 900_000
    assert caller.wallet == {"balance": 5_000_000 - charged, "held": 0, "debt": 0}


@pytest.mark.parametrize("times", [1, 4])
def test_a_large_page_that_is_read_by_the_byte_is_cut(stage: Stage, settings: Any, times: int) -> None:
    settings.WRITE_SECONDS = settings.KEEP_ALIVE_SECONDS = settings.HEAD_SECONDS = 1.0
    page = b"GET /openapi.json HTTP/1.1\r\nHost: gateway\r\n\r\n"
    with crowd(stage.origin, [times * page]) as [client]:
        trickle(client)
