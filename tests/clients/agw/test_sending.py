"""Answers that come slowly, late, or not to their end."""

import io
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from unittest import mock

import pytest

from account_gateway_client import CachedTokens, Gateway, ProofKey
from account_gateway_client.cli import sending
from account_gateway_client.cli.call import call_of
from account_gateway_client.cli.errors import CommandError, TimedOut
from account_gateway_client.cli.terminal import Output
from account_gateway_client.tokens import AccessToken
from tests.clients.agw.local_server import Answer, Server, begin, running
from tests.support.concurrency import PATIENCE_SECONDS

CALL = call_of("POST", "/v1/x", data="{}", max_cost_microusd=1, idempotency_key="the-key")
REPEAT = "To repeat it without paying twice, add --idempotency-key the-key"


@pytest.fixture
def server() -> Iterator[Server]:
    with running() as server:
        yield server


@pytest.fixture
def gateway(server: Server) -> Gateway:
    token = AccessToken("token", frozenset(), float("inf"))
    return Gateway(server.origin, CachedTokens(ProofKey.generate(), lambda: token))


@contextmanager
def read_from_stdout() -> Iterator[io.BufferedReader]:
    """Yield what reads standard output."""
    reader, writer = os.pipe()
    with (
        os.fdopen(reader, "rb") as reading,
        os.fdopen(writer, "w") as writing,
        mock.patch.object(sys, "stdout", writing),
    ):
        yield reading


def chunk(handler: BaseHTTPRequestHandler, data: bytes) -> None:
    handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))


def test_each_piece_is_passed_on_when_it_comes(server: Server, gateway: Gateway) -> None:
    seen = threading.Event()

    def answer(handler: BaseHTTPRequestHandler) -> None:
        begin(handler, Transfer_Encoding="chunked", Content_Type="text/event-stream", x_service_usage_id="use_1")
        chunk(handler, b"data: one\n\n")
        assert seen.wait(PATIENCE_SECONDS)
        chunk(handler, b'data: two\n\n: service {"usage_id":"use_1","charge_microusd":7}\n\n')
        chunk(handler, b"")

    server.answer = answer
    statuses: list[int] = []
    thread = threading.Thread(target=lambda: statuses.append(sending.send(gateway, CALL)))
    with read_from_stdout() as output:
        thread.start()
        assert output.readline() == b"data: one\n"
        seen.set()
        assert [output.readline() for _ in range(2)] == [b"\n", b"data: two\n"]
        thread.join()
    assert statuses == [0]


def test_the_charge_at_the_end_of_a_stream_is_told(
    server: Server, gateway: Gateway, capsys: pytest.CaptureFixture[str]
) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        body = b'data: one\n\n: service {"usage_id":"use_1","charge_microusd":7}\n\n'
        begin(handler, Content_Length=str(len(body)), x_service_usage_id="use_1", x_service_hold_microusd="9")
        handler.wfile.write(body)

    server.answer = answer
    assert sending.send(gateway, CALL) == 0
    assert capsys.readouterr().err == "agw: use_1 cost $0.000007 of $0.000009 held.\n"


def lost(handler: BaseHTTPRequestHandler) -> None:
    begin(handler, Content_Length="100")
    handler.wfile.write(b"a")
    handler.close_connection = True


def lost_in_a_stream(handler: BaseHTTPRequestHandler) -> None:
    begin(handler, Transfer_Encoding="chunked")
    chunk(handler, b"a")
    handler.close_connection = True


def lost_at_once(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True


@pytest.mark.parametrize("answer", [lost, lost_in_a_stream, lost_at_once])
def test_a_lost_answer_says_how_to_repeat_the_call(server: Server, gateway: Gateway, answer: Answer) -> None:
    server.answer = answer
    with pytest.raises(CommandError, match=REPEAT) as raised:
        sending.send(gateway, CALL)
    assert raised.value.exit_status == 1


def test_an_answer_that_does_not_come_is_a_time_out(
    server: Server, gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()

    def hold(handler: BaseHTTPRequestHandler) -> None:
        over.wait(PATIENCE_SECONDS)

    server.answer = hold
    monkeypatch.setattr(sending, "READ_SECONDS", 0.05)
    with pytest.raises(TimedOut, match=REPEAT):
        sending.send(gateway, CALL)
    over.set()


@pytest.mark.parametrize(("status", "expected"), [(504, 6), (409, 5), (402, 7), (500, 1), (302, 0)])
def test_the_status_of_whatever_answer_counts(server: Server, gateway: Gateway, status: int, expected: int) -> None:
    """Also of one that is no gateway's; a redirect is not followed."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        begin(handler, status, Content_Length="6", Location="http://127.0.0.1:1/")
        handler.wfile.write(b"<html>")

    server.answer = answer
    assert sending.send(gateway, CALL) == expected


def test_leaving_ends_the_call(server: Server, gateway: Gateway) -> None:
    """As with `agw request ... | head -1`."""
    ended = threading.Event()

    def answer(handler: BaseHTTPRequestHandler) -> None:
        begin(handler, Transfer_Encoding="chunked")
        try:
            while True:
                chunk(handler, b"data\n" * 1000)
        except OSError:
            ended.set()

    server.answer = answer
    reader, writer = os.pipe()
    os.close(reader)
    writing = os.fdopen(writer, "w")
    with mock.patch.object(sys, "stdout", writing), pytest.raises(BrokenPipeError):
        sending.send(gateway, CALL)
    with suppress(BrokenPipeError):
        writing.close()
    assert ended.wait(PATIENCE_SECONDS)


def test_a_terminal_gets_nothing_to_obey(server: Server, gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = [b"a\x1b]0;title\x07", "ü\x9b2J".encode()[:1], "ü\x9b2J".encode()[1:3], b"\x9b2J\rover\r\nend\n"]

    def answer(handler: BaseHTTPRequestHandler) -> None:
        begin(handler, 400, Content_Length=str(len(b"".join(pieces))))
        handler.wfile.write(b"".join(pieces))

    server.answer = answer
    with read_from_stdout() as output:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        written = Output()
        for piece in pieces:
            written.write(piece)
        shown = "a\ufffd]0;title\ufffdü\ufffd2Jover\nend\n".encode()
        assert output.read(len(shown)) == shown
        assert sending.send(gateway, CALL) == 1
        assert output.read(len(shown)) == shown
