"""An upstream that misbehaves below HTTP, or on purpose: nothing leaks, nothing hangs, nothing is sent twice."""

import asyncio
import contextlib
import gzip
import os
import socket
import ssl
import tracemalloc
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from gateway.outbound.session import close_session, session
from inference.adapters.base import Ambiguous, Answer, Failed, Outcome, Rejected, Unreachable
from inference.adapters.openai import OpenAIAdapter
from tests.inference.adapters.attempts import chat, embedding, eventually
from tests.inference.adapters.wire import chunk, chunked_head, reset, response, serving
from tests.support.upstream import FakeUpstream, mute_port

adapter = OpenAIAdapter()

GOOD = orjson.dumps({"choices": [{"index": 0, "message": {"content": "ok"}}], "usage": {"prompt_tokens": 1}})


async def answered_with(answer: Any, **changes: Any) -> Outcome:
    async with serving(answer) as wire:
        outcome = await adapter.send(chat(wire.base_url, **changes))
        assert len(wire.requests) == 1
    return outcome


def assert_ambiguous(outcome: Outcome, code: str) -> None:
    assert isinstance(outcome, Ambiguous), outcome
    assert outcome.error.code == code


@pytest.mark.parametrize(
    "status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent", "304 Not Modified"]
)
async def test_a_redirect_is_not_followed(status: str) -> None:
    async with serving(response(GOOD)) as elsewhere:
        there = f"Location: {elsewhere.base_url}/chat/completions\r\n"
        outcome = await answered_with(response(b"", status=status, extra=there))
        assert elsewhere.requests == []
    assert isinstance(outcome, Failed)
    assert outcome.status == int(status[:3])
    assert outcome.alarm is not None


@pytest.mark.parametrize(
    "raw",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"\x15\x03\x01\x00\x02\x02\x50",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nbad header line\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX-Endless: " + b"a" * 100_000,
        b"HTTP/1.1 200 OK\r\n" + b"X: 1\r\n" * 10_000,
    ],
)
async def test_what_is_no_http_is_ambiguous(raw: bytes) -> None:
    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(raw)
        await writer.drain()
        writer.close()

    outcome = await answered_with(answer)
    assert isinstance(outcome, Ambiguous), outcome
    assert outcome.error.code in {"upstream_invalid", "upstream_error"}


@pytest.mark.parametrize(
    "body",
    [
        chunk(GOOD[:20]),  # and then nothing
        chunk(GOOD[:20]) + b"zz\r\n",
        chunk(GOOD[:20]) + b"5\r\nabc",
        chunk(GOOD[:20]) + b"ffffffffffffffffff\r\n",
    ],
)
@pytest.mark.parametrize("abrupt", [False, True])
async def test_a_body_in_broken_chunks_is_ambiguous(body: bytes, abrupt: bool) -> None:
    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(chunked_head("application/json") + body)
        await writer.drain()
        await asyncio.sleep(0.02)
        reset(writer) if abrupt else writer.close()

    outcome = await answered_with(answer)
    assert isinstance(outcome, Ambiguous), outcome
    assert outcome.error.code in {"upstream_invalid", "upstream_error"}


async def test_a_body_shorter_than_its_length_is_lost() -> None:
    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(response(GOOD).replace(b"Content-Length: ", b"Content-Length: 1"))
        await writer.drain()
        writer.close()

    assert_ambiguous(await answered_with(answer), "upstream_error")


async def test_bytes_behind_the_answer_do_not_reach_the_next_call() -> None:
    smuggled = response(GOOD.replace(b"ok", b"evil"))
    async with serving(response(GOOD) + smuggled, response(GOOD)) as wire:
        for _ in range(2):
            outcome = await adapter.send(chat(wire.base_url))
            assert isinstance(outcome, Answer)
            assert outcome.body["choices"][0]["message"]["content"] == "ok"
            await asyncio.sleep(0.01)


async def test_an_answer_that_nobody_asked_for_does_not_reach_the_next_call() -> None:
    late = response(GOOD.replace(b'"ok"', b'"evil"'))

    async def answer_twice(writer: asyncio.StreamWriter) -> None:
        writer.write(response(GOOD))
        await writer.drain()
        await asyncio.sleep(0.03)
        writer.write(late)
        await writer.drain()

    async with serving(answer_twice) as wire:
        for _ in range(3):
            outcome = await adapter.send(chat(wire.base_url))
            assert isinstance(outcome, Answer)
            assert outcome.body["choices"][0]["message"]["content"] == "ok"
            await asyncio.sleep(0.06)
        assert [request.connection for request in wire.requests] == [1, 2, 3]


@pytest.mark.parametrize("patient", [False, True])
async def test_a_refusal_of_a_request_that_is_still_being_sent_is_never_an_answer(patient: bool) -> None:
    """A server may refuse by the head alone; whether its words survive its hanging up is up to the network."""
    refusal = response(b"{}", status="413 Too Large", extra="Connection: close\r\n")

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(refusal)
        await writer.drain()
        if patient:
            await reader.read()
        writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    messages = [{"role": "user", "content": "x" * 6_000_000}]
    outcome = await adapter.send(chat(base_url, body={"messages": messages}, timeout_seconds=5))
    server.close()
    if patient:
        assert isinstance(outcome, Rejected)
        assert outcome.error.code == "input_too_large"
    else:
        assert isinstance(outcome, Rejected | Ambiguous)


async def test_a_server_that_does_not_read_runs_into_the_timeout() -> None:
    messages = [{"role": "user", "content": "x" * 9_000_000}]
    with mute_port() as port:
        attempt = chat(f"http://127.0.0.1:{port}/v1", body={"messages": messages}, timeout_seconds=0.3)
        assert_ambiguous(await adapter.send(attempt), "upstream_timeout")


async def test_a_reset_after_the_request_is_lost_and_not_sent_again() -> None:
    async def answer(writer: asyncio.StreamWriter) -> None:
        reset(writer)

    assert_ambiguous(await answered_with(answer), "upstream_error")


async def test_a_kept_connection_that_dies_under_a_call_is_lost_and_not_sent_again() -> None:
    async def hang_up(writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with serving(response(GOOD), hang_up, response(GOOD)) as wire:
        assert isinstance(await adapter.send(chat(wire.base_url)), Answer)
        assert_ambiguous(await adapter.send(chat(wire.base_url)), "upstream_error")
        assert [request.connection for request in wire.requests] == [1, 1]


async def test_a_kept_connection_that_was_closed_meanwhile_is_replaced() -> None:
    async def answer_and_close(writer: asyncio.StreamWriter) -> None:
        writer.write(response(GOOD))
        await writer.drain()
        writer.close()

    async with serving(answer_and_close) as wire:
        for _ in range(3):
            assert isinstance(await adapter.send(chat(wire.base_url)), Answer)
            await asyncio.sleep(0.02)
        assert [request.connection for request in wire.requests] == [1, 2, 3]


async def test_calls_share_a_connection_one_after_another() -> None:
    async with serving(response(GOOD)) as wire:
        for _ in range(5):
            assert isinstance(await adapter.send(chat(wire.base_url)), Answer)
        assert {request.connection for request in wire.requests} == {1}


async def test_connections_send_small_packets_at_once() -> None:
    async with serving(chunked_head()) as wire, session().post(wire.base_url) as answer:
        assert answer.connection is not None
        assert answer.connection.transport is not None
        raw: socket.socket = answer.connection.transport.get_extra_info("socket")
        assert raw.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


@pytest.mark.parametrize(
    "informational",
    [b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 5],
)
async def test_informational_answers_are_passed_over(informational: bytes) -> None:
    assert isinstance(await answered_with(informational + response(GOOD)), Answer)


async def test_informational_answers_without_end_run_into_the_timeout() -> None:
    async def answer(writer: asyncio.StreamWriter) -> None:
        while not writer.is_closing():
            writer.write(b"HTTP/1.1 103 Early Hints\r\n\r\n")
            await writer.drain()
            await asyncio.sleep(0.05)

    assert_ambiguous(await answered_with(answer, timeout_seconds=0.3), "upstream_timeout")


async def test_an_answer_that_drips_runs_into_the_timeout() -> None:
    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(response(GOOD)[: -len(GOOD)])
        for at in range(len(GOOD)):
            writer.write(GOOD[at : at + 1])
            await writer.drain()
            await asyncio.sleep(0.1)

    assert_ambiguous(await answered_with(answer, timeout_seconds=0.3), "upstream_timeout")


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n",
        response(b"", status="202 Accepted"),
        response(b"null"),
        response(b'{"error":{"message":"quota","code":429}}'),
        response(b'{"choices":[]}'),
        response(GOOD.replace(b"{", b'{"error":{"message":"host-7 is on fire"},', 1)),
        response(b'{"choices":{}}'),
        response(b'{"choices":[{"index":0}]}'),
        response(b'{"choices":[{"message":"hi"}]}'),
        response(b'{"choices":[{"message":{}}],"usage":"many"}'),
        response(b'{"choices":[{"message":{}}],"usage":[1]}'),
        response(b'{"choices":[{"message":{}}],"x":' + b"[" * 400 + b"]" * 400 + b"}"),
        response(b'{"choices":[{"message":{"content":"\\udead"}}]}'),
        response(b'{"choices":[{"message":{"content":"\xff"}}]}'),
        response(b'{"choices":[{"message":{}}],"usage":{"prompt_tokens":NaN}}'),
        response(b"[" * 100_000),
        response(b"{}", content_type="text/event-stream"),
        response(GOOD, content_type="text/plain"),
    ],
)
async def test_a_2xx_that_is_no_answer_is_ambiguous(answer: bytes) -> None:
    assert_ambiguous(await answered_with(answer), "upstream_invalid")


@pytest.mark.parametrize("vectors", [0, 1, 3])
async def test_too_few_or_too_many_embeddings_are_ambiguous(vectors: int) -> None:
    body = orjson.dumps({"object": "list", "data": [{"index": 0, "embedding": [1.0]}] * vectors, "usage": {}})
    async with serving(response(body)) as wire:
        assert_ambiguous(await adapter.send(embedding(wire.base_url, {"input": ["a", "b"]})), "upstream_invalid")
        single = await adapter.send(embedding(wire.base_url, {"input": [5, 6, 7]}))
    assert isinstance(single, Answer) == (vectors == 1)


async def test_a_compressed_answer_is_read() -> None:
    answer = response(gzip.compress(GOOD), extra="Content-Encoding: gzip\r\n")
    assert isinstance(await answered_with(answer), Answer)


async def test_a_stream_is_asked_for_uncompressed() -> None:
    async with serving(response(GOOD)) as wire:
        await adapter.send(chat(wire.base_url))
        await adapter.open_stream(chat(wire.base_url))
    plain, streamed = wire.requests
    assert "gzip" in plain.headers["Accept-Encoding"]
    assert streamed.headers["Accept-Encoding"] == "identity"
    assert streamed.headers["Accept"] == "text/event-stream"


@pytest.mark.parametrize(
    "broken", [b"not gzip at all", gzip.compress(GOOD)[:-12], gzip.compress(GOOD)[:12] + b"\xff" * 20]
)
async def test_broken_compression_is_ambiguous(broken: bytes) -> None:
    outcome = await answered_with(response(broken, extra="Content-Encoding: gzip\r\n"))
    assert isinstance(outcome, Ambiguous), outcome


async def test_a_compression_bomb_is_not_unpacked() -> None:
    packer = zlib.compressobj(9, wbits=31)
    bomb = b"".join(packer.compress(b" " * 2**20) for _ in range(160)) + packer.flush()
    tracemalloc.start()
    try:
        outcome = await answered_with(response(bomb, extra="Content-Encoding: gzip\r\n"), timeout_seconds=20)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert_ambiguous(outcome, "upstream_invalid")
    assert peak_bytes < 100 * 2**20


@pytest.mark.parametrize("status", ["200 OK", "400 Bad Request", "503 Service Unavailable"])
async def test_an_answer_without_end_is_not_read_to_it(status: str) -> None:
    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n\r\n".encode())
        while not writer.is_closing():
            writer.write(b" " * 2**20)
            await writer.drain()

    outcome = await answered_with(answer, timeout_seconds=20)
    if status.startswith("200"):
        assert_ambiguous(outcome, "upstream_invalid")
    else:
        assert type(outcome).__name__ == ("Rejected" if status.startswith("400") else "Failed")


async def test_a_large_request_arrives_whole() -> None:
    text = "ü" * 2_000_000
    async with serving(response(GOOD)) as wire:
        messages = [{"role": "user", "content": text}]
        outcome = await adapter.send(chat(wire.base_url, body={"messages": messages}, timeout_seconds=10))
    assert isinstance(outcome, Answer)
    assert orjson.loads(wire.requests[0].body)["messages"][0]["content"] == text


async def test_cookies_are_not_kept() -> None:
    async with serving(response(GOOD, extra="Set-Cookie: session=1; Path=/\r\n")) as wire:
        for _ in range(2):
            await adapter.send(chat(wire.base_url))
    assert all("Cookie" not in request.headers for request in wire.requests)


async def test_the_environment_names_no_proxy_and_no_credentials(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("default login evil password evil\n")
    netrc.chmod(0o600)
    async with serving(response(GOOD)) as proxy, serving(response(GOOD)) as wire:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.base_url.removesuffix("/v1"))
        monkeypatch.setenv("NETRC", os.fspath(netrc))
        outcome = await adapter.send(chat(wire.base_url, api_key=""))
        assert proxy.requests == []
    assert isinstance(outcome, Answer)
    assert "Authorization" not in wire.requests[0].headers


async def test_an_upstreams_organization_and_project_go_with_the_call() -> None:
    options = {"organization": "org-1", "project": "proj-2"}
    async with serving(response(GOOD)) as wire:
        await adapter.send(chat(wire.base_url, options=options))
    headers = wire.requests[0].headers
    assert (headers["OpenAI-Organization"], headers["OpenAI-Project"]) == ("org-1", "proj-2")
    assert wire.requests[0].line == "POST /v1/chat/completions HTTP/1.1"


async def test_tls_to_a_server_without_it_took_nothing() -> None:
    async with serving(response(GOOD)) as wire:
        outcome = await adapter.send(chat(wire.base_url.replace("http://", "https://")))
    assert isinstance(outcome, Unreachable)
    assert wire.requests == []


async def test_a_certificate_that_nobody_vouches_for_took_nothing(tmp_path: Path) -> None:
    server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0, ssl=_self_signed(tmp_path))
    port = server.sockets[0].getsockname()[1]
    try:
        outcome = await adapter.send(chat(f"https://127.0.0.1:{port}/v1"))
    finally:
        server.close()
    assert isinstance(outcome, Unreachable)


async def test_a_connection_that_never_comes_took_nothing(full_port: int, settings: Any) -> None:
    settings.UPSTREAM_CONNECT_SECONDS = 0.2
    outcome = await adapter.send(chat(f"http://127.0.0.1:{full_port}/v1", timeout_seconds=2))
    assert isinstance(outcome, Unreachable)


async def test_waiting_for_a_free_connection_took_nothing(upstream: FakeUpstream, settings: Any) -> None:
    settings.UPSTREAM_CONNECTIONS_MAX, settings.UPSTREAM_CONNECT_SECONDS = 1, 0.2
    await close_session()
    held = asyncio.create_task(adapter.send(chat(upstream.base_url, "small-1?delay_ms=600", timeout_seconds=2)))
    await asyncio.sleep(0.05)
    assert isinstance(await adapter.send(chat(upstream.base_url)), Unreachable)
    assert isinstance(await held, Answer)
    await close_session()
    assert len(list(upstream.ledger)) == 1


async def test_cancelling_a_call_hangs_up() -> None:
    async def stay_silent(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0)

    async with serving(stay_silent) as wire:
        call = asyncio.create_task(adapter.send(chat(wire.base_url, timeout_seconds=30)))
        await eventually(lambda: bool(wire.requests))
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        async with asyncio.timeout(2):
            await wire.left.wait()


@pytest.fixture
def full_port() -> Iterator[int]:
    """Listen on a port whose queue is full, so that further connections get no answer at all."""
    with contextlib.ExitStack() as opened:
        listener = opened.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(8):
            client = opened.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]


def _self_signed(folder: Path) -> ssl.SSLContext:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(
        name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(1)
    )
    pem = folder / "server.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    pem.write_bytes(private + builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    return context
