"""Requests whose end is told in two ways, so that a proxy and the gateway could disagree about it. RFC 9112 section 11.2."""

from pathlib import Path
from typing import Any

import pytest

from tests.inference.calls.test_disconnects import raw_request
from tests.server.crowd import connect, crowd, read_to_the_end
from tests.server.test_connections import GET, HANDSHAKE, ask
from tests.support.concurrency import eventually
from tests.support.stage import Stage, chat

HOST = b"Host: gateway\r\n"
POST = b"POST /v1/oauth/token HTTP/1.1\r\n" + HOST
SMUGGLED = b"GET /v1/models HTTP/1.1\r\n" + HOST + b"\r\n"
PAGE = b"GET /account/login/ HTTP/1.1\r\n" + HOST + b"\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n"
FORM = b"grant_type=badger"
CHUNKS = b"11\r\n" + FORM + b"\r\n0\r\n\r\n"

AMBIGUOUS = {
    "length and chunks": CHUNKED + b"Content-Length: 4\r\n\r\n0\r\n\r\n",
    "chunks and length": POST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "two lengths": POST + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde",
    "two equal lengths": POST + b"Content-Length: 4\r\nContent-Length: 4\r\n\r\nabcd",
    **{
        f"length {value!r}": POST + b"Content-Length:" + value + b"\r\n\r\nabcd"
        for value in (b" 4, 4", b" +4", b" -4", b" 0x4", b" 4 4", b" 4_0", b"", b"\r\n 4", b" 18446744073709551620")
    },
    "a blank before the colon": POST + b"Content-Length : 4\r\n\r\nabcd",
    **{
        f"coding {value!r}": POST + b"Transfer-Encoding:" + value + b"\r\n\r\n" + CHUNKS
        for value in (
            *(
                b" xchunked",
                b" identity",
                b" chunked, identity",
                b" gzip, chunked",
                b" chunked, chunked",
                b' "chunked"',
            ),
            *(b" \x0bchunked", b" chunked;q=1", b" chunked,", b"", b"\r\n chunked"),
        )
    },
    "two codings": POST + b"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNKS,
    "chunks twice": CHUNKED + b"Transfer-Encoding: chunked\r\n\r\n" + CHUNKS,
    "a blank after the coding's name": POST + b"Transfer-Encoding : chunked\r\n\r\n" + CHUNKS,
    "chunks of HTTP/1.0": CHUNKED.replace(b"1.1", b"1.0") + b"\r\n" + CHUNKS,
    "a folded line": GET + b"X-A: 1\r\n 2\r\n\r\n",
    "a line feed alone": GET.replace(b"\r\n", b"\n") + b"\n",
    "a carriage return alone": GET + b"X-A: 1\rX-B: 2\r\n\r\n",
    "a name with a blank": GET + b"X A: 1\r\n\r\n",
    "a name of no ASCII": GET + b"X\xff: 1\r\n\r\n",
    "a chunk's line feed": CHUNKED + b"\r\n" + CHUNKS.replace(b"\r\n", b"\n"),
    "an extension's line feed": CHUNKED + b"\r\n" + CHUNKS.replace(b"11\r\n", b"11;a\n"),
    "a chunk without end": CHUNKED + b"\r\n11\r\n" + FORM + b"0\r\n\r\n",
    **{
        f"chunk size {size!r}": CHUNKED + b"\r\n" + size + CHUNKS[2:]
        for size in (b"0x11", b"-11", b"+11", b"11 ", b" 11", b"10000000000000011", b"")
    },
    **{
        f"trailer {name!r}": CHUNKED + b"\r\n" + CHUNKS[:-2] + name + b"\r\n\r\n"
        for name in (b"Content-Length: 5", b"Transfer-Encoding: chunked")
    },
    "no host": GET.replace(HOST, b"") + b"\r\n",
    "two hosts": GET + HOST + b"\r\n",
    "two hosts of HTTP/1.0": GET.replace(b"1.1", b"1.0") + HOST + b"\r\n",
    "a tunnel": b"CONNECT other.example:443 HTTP/1.1\r\n" + HOST + b"\r\n",
    "a tunnel to a path": b"CONNECT /healthz HTTP/1.1\r\n" + HOST + b"\r\n",
    **{
        f"version {version!r}": GET.replace(b" HTTP/1.1", version) + b"\r\n"
        for version in (b"", b" HTTP/0.9", b" HTTP/1.2", b" HTTP/2.0", b" HTTP/11.1", b" http/1.1")
    },
    **{f"method {method!r}": GET.replace(b"GET", method) + b"\r\n" for method in (b"get", b"Get", b"FOO", b"GET\t")},
}


@pytest.mark.parametrize("request_bytes", AMBIGUOUS.values(), ids=list(AMBIGUOUS))
def test_what_could_be_read_in_two_ways_is_refused_and_ends_the_connection(stage: Stage, request_bytes: bytes) -> None:
    answer = ask(stage, request_bytes + SMUGGLED)
    assert (answer[:13], answer.count(b"HTTP/1.1 ")) == (b"HTTP/1.1 400 ", 1), answer


@pytest.mark.parametrize("digits", [b"18446744073709551615", b"9" * 19, b"0" * 20 + b"9" * 12])
@pytest.mark.parametrize("path", [b"/v1/oauth/token", b"/v1/chat/completions", b"/webhooks/stripe", b"/admin/login/"])
def test_a_length_of_many_digits_is_a_large_body(stage: Stage, path: bytes, digits: bytes) -> None:
    if path == b"/v1/chat/completions":  # its caller is asked for before its body
        caller = stage.caller()
        head = raw_request(caller, chat("x")).partition(b"Content-Length: ")[0]
    else:
        head = POST.replace(b"/v1/oauth/token", path)
    answer = ask(stage, head + b"Content-Length: " + digits + b"\r\n\r\n" + SMUGGLED)
    assert (answer[:13], answer.count(b"HTTP/1.1 ")) == (b"HTTP/1.1 413 ", 1), answer


def test_a_body_is_no_request_whether_or_not_it_is_wanted(stage: Stage) -> None:
    length = b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(SMUGGLED)
    for head in (GET, POST, PAGE[:-2], GET.replace(b"GET /healthz", b"DELETE /v1/models")):
        assert ask(stage, head + length + SMUGGLED).count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize("upgrade", [b"h2c", b"TLS/1.0", b"websocket2"])
def test_another_protocol_is_not_spoken_and_what_follows_is_no_request(stage: Stage, upgrade: bytes) -> None:
    head = GET + b"Connection: Upgrade\r\nUpgrade: " + upgrade + b"\r\n\r\n"
    answer = ask(stage, head + SMUGGLED)
    assert (answer[:13], answer.count(b"HTTP/1.1 ")) == (b"HTTP/1.1 200 ", 1)
    assert b"connection: close" in answer


def test_nothing_follows_a_request_that_closes_the_connection(stage: Stage) -> None:
    for head in (GET + b"Connection: close\r\n\r\n", GET.replace(b"1.1", b"1.0") + b"Connection: keep-alive\r\n\r\n"):
        assert ask(stage, head + SMUGGLED).count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize("first", [PAGE, GET + b"\r\n"], ids=["a page", "the health check"])
def test_a_handshake_is_not_answered_before_the_request_that_came_first(
    stage: Stage, caplog: Any, first: bytes
) -> None:
    for _ in range(5):
        answer = ask(stage, first + b"GET" + HANDSHAKE + b"\r\n")
        assert answer == b"" or answer.startswith(b"HTTP/1.1 200 ")
        assert b"HTTP/1.1 404 " not in answer.partition(b"HTTP/1.1 200 ")[0]
    assert ask(stage, GET + b"Connection: close\r\n\r\n").startswith(b"HTTP/1.1 200 ")
    assert "Traceback" not in caplog.text


def test_a_call_learns_that_its_client_left_by_way_of_a_handshake(stage: Stage, caplog: Any) -> None:
    alias, caller = stage.model(max_output_tokens=20), stage.caller()
    with stage.upstream.holding(), connect(stage.origin) as connection:
        connection.sendall(raw_request(caller, chat(alias)))
        eventually(lambda: len(stage.upstream.ledger) == 1)
        connection.sendall(b"GET" + HANDSHAKE + b"\r\n")
        assert read_to_the_end(connection) == b""
    eventually(lambda: [call.state for call in caller.calls] == ["settled"])
    assert "Traceback" not in caplog.text


def unread(origin: str) -> list[str]:
    """Return the connections of a gateway whose bytes wait in the system for a client (Linux)."""
    port = f":{int(origin.rpartition(':')[2]):04X}"
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return [row[2] for row in rows if row[1].endswith(port) and not row[4].startswith("00000000")]


@pytest.mark.parametrize("last", [PAGE, PAGE[:-2] + b"Connection: close\r\n\r\n"], ids=["kept alive", "closed"])
def test_the_system_too_forgets_what_nobody_reads(stage: Stage, settings: Any, last: bytes) -> None:
    # Long enough to be looked at before it ends; the system takes its own limit from it when a connection is made.
    settings.WRITE_SECONDS = settings.HEAD_SECONDS = settings.KEEP_ALIVE_SECONDS = 5.0
    seen = set[str]()

    def have_all_waited() -> bool:
        """Whether each was seen to wait; on a busy machine the first may have ended before the last begins."""
        seen.update(unread(stage.origin))
        return len(seen) == 5

    with crowd(stage.origin, [5 * PAGE + last] * 5):
        eventually(have_all_waited)
        eventually(lambda: not unread(stage.origin))
