"""Answers that violate HTTP or the vendor's API, or are too large, too slow or missing."""

import asyncio
import gzip
import time
import tracemalloc
import zlib
from typing import Any

import orjson
import pytest

from gateway.core.outbound.response import INTERIM_RESPONSES_MAX
from inference.interface.answer import Answer
from inference.interface.upstream import Ambiguous, Failed, Outcome, Rejected
from tests.inference.adapters.attempts import Endpoints, assert_ambiguous, chat, embedding, opened, read_until_broken
from tests.inference.adapters.wire import GOOD, chunk, chunked_head, reset, response, serving
from tests.support.upstream import mute_port

adapter = Endpoints("openai")


async def answered_with(answer: Any, **changes: Any) -> Outcome:
    async with serving(answer) as wire:
        outcome = await adapter.send(chat(wire.base_url, **changes))
        assert len(wire.requests) == 1
    return outcome


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


BROKEN_CHUNKS = [b"zz\r\n", b"5\r\nabcdefgh\r\n", b"ffffffffffffffffff\r\n", b"5;\x00\r\n", b"-1\r\n"]


@pytest.mark.parametrize("broken", BROKEN_CHUNKS)
async def test_framing_that_breaks_behind_the_first_bytes_fails_at_once(broken: bytes) -> None:
    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(chunked_head("application/json") + chunk(GOOD[:20]))
        await writer.drain()
        await asyncio.sleep(0.05)
        writer.write(broken)
        await writer.drain()

    started = time.monotonic()
    assert_ambiguous(await answered_with(answer, timeout_seconds=60), "upstream_invalid")
    assert time.monotonic() - started < 30


@pytest.mark.parametrize("broken", BROKEN_CHUNKS)
async def test_a_stream_whose_framing_breaks_is_broken_at_once(broken: bytes) -> None:
    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(chunked_head() + chunk(b'data: {"choices":[{"index":0,"delta":{"content":"ok"}}]}\n\n'))
        await writer.drain()
        await asyncio.sleep(0.05)
        writer.write(broken)
        await writer.drain()

    async with serving(answer) as wire:
        started = time.monotonic()
        stream = await opened(await adapter.open_stream(chat(wire.base_url, timeout_seconds=60)))
        chunks, end = await read_until_broken(stream)
    assert sum(part.output_deltas for part in chunks) == 1
    assert end.error.code == "upstream_invalid"
    assert time.monotonic() - started < 30


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


@pytest.mark.parametrize("patient", [False, True])
async def test_a_refusal_of_a_request_that_is_still_being_sent_is_never_an_answer(patient: bool) -> None:
    """A server may send only the headers of a refusal; the network decides whether its body survives the close."""
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


async def test_a_flood_of_informational_answers_is_ambiguous() -> None:
    flood = b"HTTP/1.1 103 Early Hints\r\n\r\n" * (INTERIM_RESPONSES_MAX + 1)
    assert_ambiguous(await answered_with(flood + response(GOOD)), "upstream_invalid")


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


async def test_a_stream_is_requested_uncompressed() -> None:
    async with serving(response(GOOD)) as wire:
        await adapter.send(chat(wire.base_url))
        await adapter.open_stream(chat(wire.base_url))
    plain, streamed = wire.requests
    assert "gzip" in plain.headers["Accept-Encoding"]
    assert streamed.headers["Accept-Encoding"] == "identity"
    assert streamed.headers["Accept"] == "text/event-stream"


@pytest.mark.parametrize(
    "broken",
    [b"not gzip at all", gzip.compress(GOOD)[:-12], gzip.compress(GOOD)[:12] + b"\xff" * 20],
    ids=["not gzip", "cut short", "spoilt"],
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
